//! How much of a result is shown: models read all of it, so it is bounded, and says how to read the rest.

use serde_json::{Map, Value, json};

/// About how long the JSON of a result is at most.
pub(crate) const RESULT_MAX_BYTES: usize = 48 << 10;
/// How much of a value that is cut is shown.
const PREVIEW_CHARS: usize = 300;

/// A value if its JSON has no more than so many bytes, or else its beginning and how to read it. Values that the API has left
/// out are shown alike.
pub(crate) fn shown(value: &Value, max_bytes: usize, read_with: &str) -> Value {
    if let Some(omitted) = omitted(value) {
        return cut(&omitted["bytes"], omitted["preview"].as_str().unwrap_or_default(), read_with);
    }
    let text = value.to_string();
    if text.len() <= max_bytes {
        return value.clone();
    }
    cut(&text.len().into(), &text, read_with)
}

fn cut(bytes: &Value, text: &str, read_with: &str) -> Value {
    let preview: String = text.chars().take(PREVIEW_CHARS).collect();
    json!({"$cut": {"bytes": bytes, "preview": preview, "readWith": read_with}})
}

/// What the API says of a value that it has left out.
pub(crate) fn omitted(value: &Value) -> Option<&Value> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    fields.get("$omitted")
}

/// As many of these as have no more than so many bytes together, and one at least.
pub(crate) fn fitting(items: Vec<Value>, max_bytes: usize) -> (Vec<Value>, usize) {
    let (all, mut bytes) = (items.len(), 0);
    let mut kept = Vec::new();
    for item in items {
        bytes += item.to_string().len();
        if bytes > max_bytes && !kept.is_empty() {
            break;
        }
        kept.push(item);
    }
    let left = all - kept.len();
    (kept, left)
}

/// A net under all tools: a result that is too large all the same loses from its largest fields, and says so.
pub(crate) fn fit(result: Value) -> Value {
    let Value::Object(mut fields) = result else { return result };
    let mut lost = Vec::new();
    while bytes_of(&fields) > RESULT_MAX_BYTES {
        let largest = fields.iter().max_by_key(|(_, value)| value.to_string().len());
        let Some(name) = largest.map(|(name, _)| name.clone()) else { break };
        let Some(value) = fields.get_mut(&name) else { break };
        *value = halved(value.take());
        if !lost.contains(&name) {
            lost.push(name);
        }
    }
    if !lost.is_empty() {
        let note = format!("{} was too large and is cut; ask for less at a time", lost.join(", "));
        fields.insert("cut".to_owned(), note.into());
    }
    Value::Object(fields)
}

fn bytes_of(fields: &Map<String, Value>) -> usize {
    fields.iter().map(|(name, value)| name.len() + value.to_string().len()).sum()
}

/// Of the same type, so that the output schema still holds, wherever that is possible.
fn halved(value: Value) -> Value {
    match value {
        Value::Array(mut items) if items.len() > 1 => {
            items.truncate(items.len() / 2);
            items.into()
        }
        Value::String(text) => {
            let half = text.chars().count() / 2;
            text.chars().take(half).collect::<String>().into()
        }
        Value::Array(_) => Value::Array(Vec::new()),
        Value::Object(_) => json!({}),
        Value::Null | Value::Bool(_) | Value::Number(_) => Value::Null,
    }
}

/// A part of a text, by characters: from one of them on, as many as fit. With where to go on.
pub(crate) fn part(text: &str, offset: usize, max_chars: usize) -> (String, Option<usize>) {
    let part: String = text.chars().skip(offset).take(max_chars).collect();
    let end = offset + part.chars().count();
    let more = text.chars().nth(end).is_some();
    (part, more.then_some(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_whole_or_says_how_to_read_it() {
        let small = json!({"a": 1});
        assert_eq!(shown(&small, 100, "x"), small);
        let large = json!("x".repeat(1_000));
        let cut = shown(&large, 100, "read_value");
        assert_eq!((&cut["$cut"]["bytes"], &cut["$cut"]["readWith"]), (&json!(1_002), &json!("read_value")));
        let left_out =
            json!({"$omitted": {"event": 7, "bytes": 2_000_000, "preview": "[1,2", "href": "/api"}});
        assert_eq!(shown(&left_out, 100, "read_value")["$cut"]["preview"], "[1,2");
    }

    #[test]
    fn a_result_of_any_size_fits_and_keeps_its_types() {
        let item = "x".repeat(1_000);
        let result = json!({"items": vec![item.clone(); 500], "text": item.repeat(300), "n": 1});
        let fitted = fit(result);
        assert!(fitted.to_string().len() <= RESULT_MAX_BYTES + 200);
        assert!(fitted["items"].is_array() && fitted["text"].is_string() && fitted["n"] == 1);
        assert!(fitted["cut"].as_str().unwrap().contains("text"));
        assert_eq!(fit(json!({"a": [1]})), json!({"a": [1]}));
    }

    #[test]
    fn a_text_is_read_in_parts() {
        assert_eq!(part("äbcde", 0, 2), ("äb".to_owned(), Some(2)));
        assert_eq!(part("äbcde", 2, 3), ("cde".to_owned(), None));
        assert_eq!(part("abc", 9, 3), (String::new(), None));
    }
}
