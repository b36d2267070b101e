//! What a transform returned, as JSON. What JSON cannot say is refused with its path.

use std::fmt::Write as _;

use rquickjs::function::This;
use rquickjs::object::Filter;
use rquickjs::{Array, CatchResultExt, Ctx, Function, Object, Type, Value};

use super::cell::{Cell, Reason};
use crate::{error, text};

/// What is deeper could not be read back.
const DEPTH_MAX: usize = 120;
/// How many values are written between two looks at the limits.
const PACE: u32 = 1024;
/// The longest text that there may be: what a frame can hold with ease.
const LENGTH_MAX: usize = 256 * 1024 * 1024;
/// Classes whose objects `JSON.stringify` writes as something that nobody wants.
const ODD: [(&str, &str); 6] = [
    ("Map", "a Map: use Object.fromEntries(map)"),
    ("Set", "a Set: use Array.from(set)"),
    ("Error", "an Error: use its message, or throw it"),
    ("RegExp", "a RegExp: use its source"),
    ("ArrayBuffer", "an ArrayBuffer: use text"),
    ("Uint8Array", "a typed array: use Array.from(array)"),
];

/// Writes a value; `undefined` is `null`.
pub(super) fn write<'js>(ctx: &Ctx<'js>, value: &Value<'js>, cell: &Cell) -> Result<String, Reason> {
    let plain = ctx.globals().get::<_, Object<'js>>("Object").and_then(|class| class.get("prototype"));
    let mut writer = Writer { ctx, cell, plain: plain.ok(), out: String::new(), path: Vec::new(), count: 0 };
    if value.is_undefined() {
        return Ok("null".to_owned());
    }
    writer.value(value)?;
    Ok(writer.out)
}

struct Writer<'a, 'js> {
    ctx: &'a Ctx<'js>,
    cell: &'a Cell,
    /// `Object.prototype`.
    plain: Option<Object<'js>>,
    out: String,
    path: Vec<Part>,
    count: u32,
}

enum Part {
    Key(String),
    Index(usize),
}

impl<'js> Writer<'_, 'js> {
    fn value(&mut self, value: &Value<'js>) -> Result<(), Reason> {
        self.look_up()?;
        match value.type_of() {
            Type::Uninitialized | Type::Undefined | Type::Null => self.out.push_str("null"),
            Type::Bool => self.out.push_str(if value.as_bool() == Some(true) { "true" } else { "false" }),
            Type::Int | Type::Float => self.number(value.as_number().unwrap_or(f64::NAN))?,
            Type::String => {
                let string = value.as_string().map(text::plain).transpose();
                let string = self.caught(string)?.unwrap_or_default();
                self.string(&string);
            }
            Type::Array => {
                let array = value.as_array().cloned();
                self.nested(|writer| array.map_or(Ok(()), |array| writer.array(&array)))?;
            }
            Type::BigInt => return Err(self.refuse("a BigInt: use Number(…) or String(…)")),
            Type::Symbol => return Err(self.refuse("a symbol: use a string")),
            Type::Function | Type::Constructor => return Err(self.refuse("a function: leave it out")),
            Type::Promise => return Err(self.refuse("a promise: transforms are synchronous")),
            Type::Object | Type::Exception | Type::Proxy | Type::Module | Type::Unknown => {
                let object = value.as_object().cloned();
                self.nested(|writer| object.map_or(Ok(()), |object| writer.object(&object)))?;
            }
        }
        Ok(())
    }

    fn number(&mut self, number: f64) -> Result<(), Reason> {
        if !number.is_finite() {
            let sign = if number < 0.0 { "-" } else { "" };
            let name = if number.is_nan() { "NaN" } else { "Infinity" };
            return Err(self.refuse(&format!("{sign}{name}: use null or a string")));
        }
        // `Display` writes whole numbers without a point, and numbers of any size without an exponent.
        let written = match number.abs() {
            0.0 => write!(self.out, "0"),
            1e-6..1e21 => write!(self.out, "{number}"),
            _ => write!(self.out, "{number:e}"),
        };
        written.expect("writing to a string cannot fail");
        Ok(())
    }

    fn string(&mut self, string: &str) {
        self.out.push_str(&serde_json::to_string(string).expect("a string is JSON"));
    }

    fn array(&mut self, array: &Array<'js>) -> Result<(), Reason> {
        self.out.push('[');
        for index in 0..array.len() {
            if index > 0 {
                self.out.push(',');
            }
            self.path.push(Part::Index(index));
            let item: Value<'js> = self.caught(array.get(index))?;
            self.value(&item)?;
            self.path.pop();
        }
        self.out.push(']');
        Ok(())
    }

    fn object(&mut self, object: &Object<'js>) -> Result<(), Reason> {
        let json: Value<'js> = self.caught(object.get("toJSON"))?;
        if let Some(json) = json.as_function() {
            return self.converted(object, json);
        }
        self.refuse_odd(object)?;
        self.out.push('{');
        let mut first = true;
        for key in object.own_keys::<String>(Filter::new().string().enum_only()) {
            let key = self.caught(key)?;
            let value: Value<'js> = self.caught(object.get(key.as_str()))?;
            // As in JavaScript's own JSON, what is undefined is not there.
            if value.is_undefined() {
                continue;
            }
            if !std::mem::take(&mut first) {
                self.out.push(',');
            }
            self.string(&key);
            self.out.push(':');
            self.path.push(Part::Key(key));
            self.value(&value)?;
            self.path.pop();
        }
        self.out.push('}');
        Ok(())
    }

    fn converted(&mut self, object: &Object<'js>, json: &Function<'js>) -> Result<(), Reason> {
        let value: Value<'js> = self.caught(json.call((This(object.clone()),)))?;
        self.value(&value)
    }

    fn refuse_odd(&self, object: &Object<'js>) -> Result<(), Reason> {
        let prototype = object.get_prototype();
        if prototype.is_none() || prototype == self.plain {
            return Ok(());
        }
        for (class, odd) in ODD {
            let class: rquickjs::Result<Value<'js>> = self.ctx.globals().get(class);
            if class.is_ok_and(|class| class.is_function() && object.is_instance_of(&class)) {
                return Err(self.refuse(odd));
            }
        }
        Ok(())
    }

    fn nested(&mut self, write: impl FnOnce(&mut Self) -> Result<(), Reason>) -> Result<(), Reason> {
        if self.path.len() >= DEPTH_MAX {
            return Err(self.refuse(&format!("nested deeper than {DEPTH_MAX} levels, or contains itself")));
        }
        write(self)
    }

    /// Looks at the limits now and then.
    fn look_up(&mut self) -> Result<(), Reason> {
        self.count += 1;
        let stop = self.count.is_multiple_of(PACE) && self.cell.must_stop();
        if stop { Err(Reason::Stopped) } else { self.check_length() }
    }

    fn check_length(&self) -> Result<(), Reason> {
        if self.out.len() > LENGTH_MAX {
            return Err(self.refuse(&format!("more than {} MiB", LENGTH_MAX >> 20)));
        }
        Ok(())
    }

    fn caught<T>(&self, result: rquickjs::Result<T>) -> Result<T, Reason> {
        let caught = result.catch(self.ctx);
        caught.map_err(|caught| Reason::Thrown(Box::new(error::thrown(self.ctx, caught))))
    }

    fn refuse(&self, problem: &str) -> Reason {
        let mut path = String::new();
        for part in &self.path {
            let dot = if path.is_empty() { "" } else { "." };
            let written = match part {
                Part::Key(key) => write!(path, "{dot}{key}"),
                Part::Index(index) => write!(path, "[{index}]"),
            };
            written.expect("writing to a string cannot fail");
        }
        let what = if path.is_empty() { "it".to_owned() } else { format!("`{path}`") };
        Reason::NotJson(format!("the output is not JSON: {what} is {problem}"))
    }
}
