//! Types of TypeScript as JSON Schema, in the shapes that Rival makes of them, so that cases are easy to read.
//!
//! ```text
//! string  number  integer  boolean  null  any  never  object  'a'  1  true
//! A | B    A & B    A[]    [A, B?, ...C[]]    Record<A>    { a: A; b?: B; [key: string]: C }    exact { a: A }    Name
//! ```

use serde_json::{Map, Value, json};

/// The schema of a type; names are in `$defs`.
pub fn schema(text: &str, named: &[(String, String)]) -> Value {
    let mut root = parse(text);
    let map = root.as_object_mut().unwrap_or_else(|| panic!("{text}"));
    map.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    if text.chars().any(char::is_uppercase) {
        let definitions: Map<String, Value> =
            named.iter().map(|(name, it)| (name.clone(), parse(it))).collect();
        map.insert("$defs".into(), Value::Object(definitions));
    }
    root
}

fn parse(text: &str) -> Value {
    let mut parser = TypeParser { tokens: tokens(text), at: 0, text };
    let schema = parser.union();
    assert!(parser.at == parser.tokens.len(), "more than a type: {text}");
    schema
}

fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let start = at;
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-');
        at += 1;
        match chars[start] {
            ' ' => continue,
            '\'' => {
                while chars[at] != '\'' {
                    at += 1;
                }
                at += 1;
            }
            '.' => at += 2,
            c if is_word(c) => {
                while at < chars.len()
                    && (is_word(chars[at]) || (chars[at] == '.' && chars[start].is_ascii_digit()))
                {
                    at += 1;
                }
            }
            _ => {}
        }
        found.push(chars[start..at].iter().collect());
    }
    found
}

struct TypeParser<'a> {
    tokens: Vec<String>,
    at: usize,
    text: &'a str,
}

impl TypeParser<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn next(&mut self) -> String {
        self.at += 1;
        self.tokens.get(self.at - 1).unwrap_or_else(|| panic!("unfinished: {}", self.text)).clone()
    }

    fn take(&mut self, token: &str) -> bool {
        let is_there = self.peek() == token;
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, token: &str) {
        assert!(self.take(token), "`{token}` is missing before token {} of {}", self.at, self.text);
    }

    fn union(&mut self) -> Value {
        self.take("|");
        let mut members = vec![self.both()];
        while self.take("|") {
            members.push(self.both());
        }
        if members.len() == 1 { members.remove(0) } else { alternatives(members) }
    }

    fn both(&mut self) -> Value {
        let mut parts = vec![self.postfix()];
        while self.take("&") {
            parts.push(self.postfix());
        }
        if parts.len() == 1 { parts.remove(0) } else { json!({"allOf": parts}) }
    }

    fn postfix(&mut self) -> Value {
        let mut schema = self.primary();
        while self.peek() == "[" && self.tokens.get(self.at + 1).is_some_and(|it| it == "]") {
            self.at += 2;
            schema = json!({"type": "array", "items": schema});
        }
        schema
    }

    fn primary(&mut self) -> Value {
        let token = self.next();
        match token.as_str() {
            "(" => {
                let schema = self.union();
                self.expect(")");
                schema
            }
            "[" => self.tuple(),
            "{" => self.object(false),
            "exact" => {
                self.expect("{");
                self.object(true)
            }
            "Record" => {
                self.expect("<");
                let value = self.union();
                self.expect(">");
                json!({"type": "object", "additionalProperties": value})
            }
            "any" | "unknown" => json!({}),
            "never" => json!({"not": {}}),
            "string" | "number" | "integer" | "boolean" | "null" | "object" => json!({"type": token}),
            "true" | "false" => json!({"const": token == "true", "type": "boolean"}),
            text if text.starts_with('\'') => json!({"const": text.trim_matches('\''), "type": "string"}),
            text if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                json!({"const": serde_json::from_str::<Value>(text).unwrap(), "type": "number"})
            }
            name if name.starts_with(char::is_uppercase) => json!({"$ref": format!("#/$defs/{name}")}),
            other => panic!("`{other}` is no type: {}", self.text),
        }
    }

    fn tuple(&mut self) -> Value {
        let (mut prefix, mut rest, mut required) = (Vec::new(), json!(false), 0);
        while !self.take("]") {
            if self.take("...") {
                rest = self.postfix()["items"].take();
            } else {
                prefix.push(self.union());
                if !self.take("?") {
                    required = prefix.len();
                }
            }
            self.take(",");
        }
        let mut schema = json!({"type": "array", "items": rest});
        if !prefix.is_empty() {
            schema["prefixItems"] = Value::from(prefix);
        }
        if required > 0 {
            schema["minItems"] = Value::from(required);
        }
        schema
    }

    fn object(&mut self, is_exact: bool) -> Value {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        let mut schema = json!({"type": "object"});
        while !self.take("}") {
            if self.take("[") {
                (0..4).for_each(|_| drop(self.next()));
                self.expect(":");
                schema["additionalProperties"] = self.union();
            } else {
                let name = self.next().trim_matches('\'').to_owned();
                let is_optional = self.take("?");
                self.expect(":");
                properties.insert(name.clone(), self.union());
                if !is_optional {
                    required.push(name);
                }
            }
            self.take(";");
        }
        if !properties.is_empty() {
            schema["properties"] = Value::Object(properties);
        }
        if !required.is_empty() {
            schema["required"] = Value::from(required);
        }
        if is_exact {
            schema["additionalProperties"] = json!(false);
        }
        schema
    }
}

/// Literals in one list, single words in another, the rest one by one.
fn alternatives(members: Vec<Value>) -> Value {
    let (mut values, mut words, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for member in members {
        let map = member.as_object().unwrap();
        match (map.get("const"), map.get("type"), map.len()) {
            (Some(value), _, _) => values.push(value.clone()),
            (None, Some(word), 1) if word.is_string() => words.push(word.clone()),
            _ => others.push(member),
        }
    }
    let mut parts = Vec::new();
    if !values.is_empty() && words == [json!("null")] {
        values.push(Value::Null);
        words.clear();
    }
    if values.len() == 1 {
        parts.push(json!({"const": values[0]}));
    } else if !values.is_empty() {
        parts.push(json!({"enum": values}));
    }
    match words.len() {
        0 => {}
        1 => parts.push(json!({"type": words[0]})),
        _ => parts.push(json!({"type": words})),
    }
    parts.extend(others);
    if parts.len() == 1 { parts.remove(0) } else { json!({"anyOf": parts}) }
}

/// The shapes are those of `crates/typescript/src/schema/emit.rs`.
#[test]
fn types_have_the_shapes_that_rival_makes() {
    let shapes = [
        ("'a' | 'b' | null", json!({"enum": ["a", "b", null]})),
        ("string | null", json!({"type": ["string", "null"]})),
        ("string[]", json!({"type": "array", "items": {"type": "string"}})),
        (
            "[string, number?]",
            json!({"type": "array", "items": false, "prefixItems": [{"type": "string"}, {"type": "number"}], "minItems": 1}),
        ),
        (
            "[string, ...number[]]",
            json!({"type": "array", "items": {"type": "number"}, "prefixItems": [{"type": "string"}], "minItems": 1}),
        ),
        (
            "{ id: string; n?: 1 }",
            json!({"type": "object", "properties": {"id": {"type": "string"}, "n": {"const": 1, "type": "number"}}, "required": ["id"]}),
        ),
        (
            "{ id: string; [key: string]: any }",
            json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": {}}),
        ),
        (
            "{ a: 1 } | null",
            json!({"anyOf": [{"type": "null"}, {"type": "object", "properties": {"a": {"const": 1, "type": "number"}}, "required": ["a"]}]}),
        ),
    ];
    for (text, shape) in shapes {
        assert_eq!(parse(text), shape, "{text}");
    }
}
