//! The built-in functions that every engine has.
//!
//! | name | its data | gives |
//! | --- | --- | --- |
//! | `value` | a template | what the template becomes: the items of a forEach, the input of a nested workflow |
//! | `rival:trigger`, `rival:triggered` | nothing; the results of all triggers | see [`crate::registry::trigger_builtin`]; only for Rival's own plans |
//! | `moment` | a template for a time: milliseconds since 1970, or a text as RFC 3339 writes it | until when to sleep |

use std::sync::Arc;

use futures::future::BoxFuture;
use rival_core::failure::code;
use rival_core::plan::{MOMENT_BUILTIN, TRIGGER_BUILTIN, VALUE_BUILTIN};
use rival_core::{FailureRecord, StepError, Value};

use crate::call::context::CallContext;
use crate::call::function::{CallError, FunctionNeeds, UserFunction};
use crate::registry::builtins::{BindError, Builtins};
use crate::registry::system::TRIGGERED_BUILTIN;
use crate::registry::trigger_builtin::{AllTriggered, StartTriggered};
use crate::template::{FillError, Template};

/// The engine's own.
pub(crate) struct OwnBuiltins;

impl Builtins for OwnBuiltins {
    fn names(&self) -> Vec<String> {
        let own = [VALUE_BUILTIN, MOMENT_BUILTIN, TRIGGER_BUILTIN, TRIGGERED_BUILTIN];
        own.map(str::to_owned).to_vec()
    }

    fn bind(&self, name: &str, with: &Value) -> Result<Arc<dyn UserFunction>, BindError> {
        if name == TRIGGER_BUILTIN {
            return Ok(Arc::new(StartTriggered::new()));
        }
        let template = Template::parse(with)
            .map_err(|error| BindError::Invalid { function: name.to_owned(), message: error.to_string() })?;
        let needs = template.needs();
        if name == TRIGGERED_BUILTIN {
            return Ok(Arc::new(AllTriggered { template, needs }));
        }
        let answer = if name == MOMENT_BUILTIN { moment } else { itself };
        Ok(Arc::new(TemplateFunction { template, needs, answer }))
    }
}

/// Fills a template, and makes its answer of it.
struct TemplateFunction {
    template: Template,
    needs: FunctionNeeds,
    answer: fn(Value) -> Result<Value, StepError>,
}

impl UserFunction for TemplateFunction {
    fn needs(&self) -> &FunctionNeeds {
        &self.needs
    }

    fn call(&self, context: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
        let filled = self.template.fill_in_call(&context, &self.needs);
        let answer = filled
            .map_err(FillError::into_step_error)
            .and_then(|value| (self.answer)(value.unwrap_or_default()));
        Box::pin(std::future::ready(answer.map_err(CallError::Failed)))
    }
}

fn itself(value: Value) -> Result<Value, StepError> {
    Ok(value)
}

/// The answer of a function that computes until when to sleep.
#[expect(clippy::needless_pass_by_value, reason = "one type for all answers")]
fn moment(value: Value) -> Result<Value, StepError> {
    match moment_ms(&value) {
        Some(ms) => Ok(serde_json::json!({ "untilMs": ms }).into()),
        None => {
            let shown: String = value.as_json().chars().take(100).collect();
            let message = format!(
                "{shown} is no moment: give milliseconds since 1970, or a text such as \"2027-01-31T09:00:00Z\""
            );
            Err(FailureRecord::new(code::BAD_ANSWER, message).stop())
        }
    }
}

fn moment_ms(value: &Value) -> Option<i64> {
    if let Ok(text) = value.decode::<String>() {
        return text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
    }
    // `1.8e12` is a whole number, too. Floats beyond this are not exact, and no clock comes to them.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = |float: &f64| float.fract() == 0.0 && float.abs() <= EXACT;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and not too large")]
    let from_float = |float: f64| float as i64;
    value.decode::<i64>().ok().or_else(|| value.decode::<f64>().ok().filter(whole).map(from_float))
}
