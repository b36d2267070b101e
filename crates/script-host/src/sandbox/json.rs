//! What a transform returned, as JSON. What JSON cannot say is refused with its path.

use std::fmt::Write as _;
use std::io::Write as _;

use rquickjs::function::This;
use rquickjs::object::Filter;
use rquickjs::{Array, CatchResultExt, Ctx, Function, Object, Type, Value};

use super::cell::{NoOutput, SandboxCell};
use crate::error;

/// What is deeper could not be read back.
const DEPTH_MAX: usize = 120;
/// How many values are written between two looks at the limits.
const PACE: u32 = 1024;
/// How much may be written between two looks at the limits.
const STRIDE: usize = 1024 * 1024;

/// Writes a value; `undefined` is `null`.
pub(super) fn write<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    cell: &SandboxCell,
) -> Result<Vec<u8>, NoOutput> {
    let tag = tag_function(ctx).catch(ctx);
    let tag = tag.map_err(|caught| NoOutput::Thrown(Box::new(error::thrown(ctx, caught))))?;
    let out = Vec::new();
    let mut writer = JsonWriter { ctx, cell, tag, out, path: Vec::new(), count: 0, looked: 0 };
    writer.value(value)?;
    Ok(writer.out)
}

/// What tells the class of an object, without asking its prototypes for more than they say by themselves.
fn tag_function<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Function<'js>> {
    let class: Object<'js> = ctx.globals().get("Object")?;
    class.get::<_, Object<'js>>("prototype")?.get("toString")
}

/// Objects that `JSON.stringify` writes in a form that the author does not expect, by their tag.
fn oddity(tag: &str) -> Option<&'static str> {
    Some(match tag {
        "[object Map]" => "a Map: use Object.fromEntries(map)",
        "[object Set]" => "a Set: use Array.from(set)",
        "[object Error]" => "an Error: use its message, or throw it",
        "[object RegExp]" => "a RegExp: use its source",
        "[object ArrayBuffer]" => "an ArrayBuffer: use text",
        tag if tag.ends_with("Array]") => "a typed array: use Array.from(array)",
        _ => return None,
    })
}

struct JsonWriter<'a, 'js> {
    ctx: &'a Ctx<'js>,
    cell: &'a SandboxCell,
    /// `Object.prototype.toString`.
    tag: Function<'js>,
    out: Vec<u8>,
    path: Vec<JsonPart>,
    /// Values since the last look at the limits, and the length then.
    count: u32,
    looked: usize,
}

enum JsonPart {
    Key(String),
    Index(u32),
}

impl<'js> JsonWriter<'_, 'js> {
    fn value(&mut self, value: &Value<'js>) -> Result<(), NoOutput> {
        self.look_up()?;
        match value.type_of() {
            Type::Uninitialized | Type::Undefined | Type::Null => self.out.extend_from_slice(b"null"),
            Type::Bool => {
                self.out.extend_from_slice(if value.as_bool() == Some(true) { b"true" } else { b"false" });
            }
            Type::Int | Type::Float => self.number(value.as_number().unwrap_or(f64::NAN))?,
            Type::String => {
                let string = value.as_string().map(rquickjs::String::to_string).transpose();
                if matches!(string, Err(rquickjs::Error::Utf8(_))) {
                    return Err(
                        self.refuse("a text with half of a character (a lone surrogate): use toWellFormed()")
                    );
                }
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

    fn number(&mut self, number: f64) -> Result<(), NoOutput> {
        if !number.is_finite() {
            let sign = if number < 0.0 { "-" } else { "" };
            let name = if number.is_nan() { "NaN" } else { "Infinity" };
            return Err(self.refuse(&format!("{sign}{name}: use null or a string")));
        }
        // `Display` writes whole numbers without a point, and numbers of any size without an exponent.
        let written = match number.abs() {
            0.0 => write!(self.out, "{}", if number.is_sign_negative() { "-0" } else { "0" }),
            1e-6..1e21 => write!(self.out, "{number}"),
            _ => write!(self.out, "{number:e}"),
        };
        written.expect("writing to memory cannot fail");
        Ok(())
    }

    fn string(&mut self, string: &str) {
        serde_json::to_writer(&mut self.out, string).expect("a string is JSON, and memory takes it");
    }

    fn array(&mut self, array: &Array<'js>) -> Result<(), NoOutput> {
        self.out.push(b'[');
        // `Array::len` knows no arrays of more than 2^31 items.
        let length: f64 = self.caught(array.as_object().get("length"))?;
        let mut index = 0;
        while f64::from(index) < length {
            if index > 0 {
                self.out.push(b',');
            }
            self.path.push(JsonPart::Index(index));
            let item: Value<'js> = self.caught(array.as_object().get(index))?;
            self.value(&item)?;
            self.path.pop();
            index += 1;
        }
        self.out.push(b']');
        Ok(())
    }

    fn object(&mut self, object: &Object<'js>) -> Result<(), NoOutput> {
        let json: Value<'js> = self.caught(object.get("toJSON"))?;
        if let Some(json) = json.as_function() {
            return self.converted(object, json);
        }
        self.refuse_odd(object)?;
        self.out.push(b'{');
        let mut first = true;
        for key in object.own_keys::<String>(Filter::new().string().enum_only()) {
            let key = self.caught(key)?;
            let value: Value<'js> = self.caught(object.get(key.as_str()))?;
            // As in JavaScript's own JSON, what is undefined is not there.
            if value.is_undefined() {
                continue;
            }
            if !std::mem::take(&mut first) {
                self.out.push(b',');
            }
            self.string(&key);
            self.out.push(b':');
            self.path.push(JsonPart::Key(key));
            self.value(&value)?;
            self.path.pop();
        }
        self.out.push(b'}');
        Ok(())
    }

    fn converted(&mut self, object: &Object<'js>, json: &Function<'js>) -> Result<(), NoOutput> {
        let value: Value<'js> = self.caught(json.call((This(object.clone()),)))?;
        self.value(&value)
    }

    fn refuse_odd(&self, object: &Object<'js>) -> Result<(), NoOutput> {
        let tag: String = self.caught(self.tag.call((This(object.clone()),)))?;
        oddity(&tag).map_or(Ok(()), |odd| Err(self.refuse(odd)))
    }

    fn nested(&mut self, write: impl FnOnce(&mut Self) -> Result<(), NoOutput>) -> Result<(), NoOutput> {
        if self.path.len() >= DEPTH_MAX {
            return Err(self.refuse(&format!("nested deeper than {DEPTH_MAX} levels, or contains itself")));
        }
        write(self)
    }

    /// Looks at the limits now and then.
    fn look_up(&mut self) -> Result<(), NoOutput> {
        self.count += 1;
        if self.count < PACE && self.out.len() < self.looked + STRIDE {
            return Ok(());
        }
        (self.count, self.looked) = (0, self.out.len());
        self.cell.check_output(self.out.len());
        if self.cell.must_stop() { Err(NoOutput::Stopped) } else { Ok(()) }
    }

    fn caught<T>(&self, result: rquickjs::Result<T>) -> Result<T, NoOutput> {
        let caught = result.catch(self.ctx);
        caught.map_err(|caught| NoOutput::Thrown(Box::new(error::thrown(self.ctx, caught))))
    }

    fn refuse(&self, problem: &str) -> NoOutput {
        let mut path = String::new();
        for part in &self.path {
            let dot = if path.is_empty() { "" } else { "." };
            let written = match part {
                JsonPart::Key(key) => write!(path, "{dot}{key}"),
                JsonPart::Index(index) => write!(path, "[{index}]"),
            };
            written.expect("writing to a string cannot fail");
        }
        let what = if path.is_empty() { "it".to_owned() } else { format!("`{path}`") };
        NoOutput::NotJson(format!("the output is not JSON: {what} is {problem}"))
    }
}
