//! Random types: their schemas take exactly the values that a plain reading of the type takes.

use std::fmt::Write as _;

use rival_typescript::interface_schema;
use serde_json::{Value, json};

use crate::dice::Dice;

enum Type {
    Word(&'static str),
    Literal(Value),
    Array(Box<Type>),
    Tuple(Vec<Type>, Option<Box<Type>>),
    Object(Vec<Property>, Option<Box<Type>>),
    Union(Vec<Type>),
}

struct Property {
    name: String,
    ty: Type,
    optional: bool,
}

const WORDS: [&str; 6] = ["string", "number", "boolean", "null", "unknown", "object"];

fn literal(dice: &mut Dice) -> Value {
    [json!("a"), json!("b"), json!(1), json!(-2), json!(true), json!(false)][dice.roll(6)].clone()
}

fn random(dice: &mut Dice, depth: usize) -> Type {
    let kinds = if depth == 0 { 2 } else { 6 };
    let next = |dice: &mut Dice| random(dice, depth.saturating_sub(1));
    match dice.roll(kinds) {
        0 => Type::Word(WORDS[dice.roll(WORDS.len())]),
        1 => Type::Literal(literal(dice)),
        2 => Type::Array(Box::new(next(dice))),
        3 => {
            let items = (0..dice.roll(3)).map(|_| next(dice)).collect();
            Type::Tuple(items, dice.chance(3).then(|| Box::new(next(dice))))
        }
        4 => {
            let property = |dice: &mut Dice, at| Property {
                name: format!("p{at}"),
                ty: next(dice),
                optional: dice.chance(3),
            };
            let properties = (0..dice.roll(4)).map(|at| property(dice, at)).collect();
            Type::Object(properties, dice.chance(4).then(|| Box::new(next(dice))))
        }
        _ => Type::Union((0..2 + dice.roll(2)).map(|_| next(dice)).collect()),
    }
}

impl Type {
    /// Whether a value is of this type.
    fn takes(&self, value: &Value) -> bool {
        match (self, value) {
            (Type::Word(word), value) => match *word {
                "string" => value.is_string(),
                "number" => value.is_number(),
                "boolean" => value.is_boolean(),
                "null" => value.is_null(),
                "object" => value.is_object(),
                _ => true,
            },
            (Type::Literal(literal), value) => literal == value,
            (Type::Array(item), Value::Array(values)) => values.iter().all(|value| item.takes(value)),
            (Type::Tuple(items, rest), Value::Array(values)) => {
                let more = values.get(items.len()..).unwrap_or_default();
                values.len() >= items.len()
                    && items.iter().zip(values).all(|(item, value)| item.takes(value))
                    && rest
                        .as_ref()
                        .map_or(more.is_empty(), |rest| more.iter().all(|value| rest.takes(value)))
            }
            (Type::Object(properties, others), Value::Object(values)) => {
                let known = |name: &String| properties.iter().any(|property| property.name == *name);
                properties
                    .iter()
                    .all(|it| values.get(&it.name).map_or(it.optional, |value| it.ty.takes(value)))
                    && values.iter().all(|(name, value)| {
                        known(name) || others.as_ref().is_none_or(|others| others.takes(value))
                    })
            }
            (Type::Union(types), value) => types.iter().any(|ty| ty.takes(value)),
            _ => false,
        }
    }

    /// A value of this type.
    fn value(&self, dice: &mut Dice) -> Value {
        match self {
            Type::Word("string") => json!("x"),
            Type::Word("number") => json!(7),
            Type::Word("boolean") => json!(true),
            Type::Word("object") => json!({}),
            Type::Word(_) => Value::Null,
            Type::Literal(value) => value.clone(),
            Type::Array(item) => (0..dice.roll(3)).map(|_| item.value(dice)).collect(),
            Type::Tuple(items, rest) => {
                let more = rest.iter().flat_map(|rest| (0..2).map(move |_| rest));
                items.iter().chain(more.map(AsRef::as_ref)).map(|item| item.value(dice)).collect()
            }
            Type::Object(properties, others) => {
                let mut object = serde_json::Map::new();
                for property in properties {
                    if !property.optional || dice.chance(2) {
                        object.insert(property.name.clone(), property.ty.value(dice));
                    }
                }
                if let Some(others) = others {
                    object.insert("other".to_owned(), others.value(dice));
                }
                Value::Object(object)
            }
            Type::Union(types) => types[dice.roll(types.len())].value(dice),
        }
    }

    /// The type in TypeScript, written in one of several ways; `declarations` may get some of it.
    fn text(&self, dice: &mut Dice, declarations: &mut String) -> String {
        match self {
            Type::Word(word) => (*word).to_owned(),
            Type::Literal(value) => value.to_string(),
            Type::Array(item) => {
                let item = item.text(dice, declarations);
                match dice.roll(3) {
                    0 => format!("Array<{item}>"),
                    1 => format!("readonly ({item})[]"),
                    _ => format!("({item})[]"),
                }
            }
            Type::Tuple(items, rest) => {
                let mut parts: Vec<String> = items.iter().map(|item| item.text(dice, declarations)).collect();
                parts.extend(rest.as_ref().map(|rest| format!("...({})[]", rest.text(dice, declarations))));
                format!("[{}]", parts.join(", "))
            }
            Type::Object(properties, others) => {
                let text = object(properties, others.as_deref(), dice, declarations);
                named(text, properties, others.is_none(), dice, declarations)
            }
            Type::Union(types) => {
                let parts: Vec<String> =
                    types.iter().map(|ty| format!("({})", ty.text(dice, declarations))).collect();
                parts.join(" | ")
            }
        }
    }
}

fn object(
    properties: &[Property],
    others: Option<&Type>,
    dice: &mut Dice,
    declarations: &mut String,
) -> String {
    let mut text = "{ ".to_owned();
    for Property { name, ty, optional } in properties {
        let ty = ty.text(dice, declarations);
        match (optional, dice.chance(2)) {
            (true, true) => write!(text, "{name}?: {ty}; "),
            (true, false) => write!(text, "{name}: ({ty}) | undefined; "),
            (false, _) => write!(text, "readonly {name}: {ty}; "),
        }
        .unwrap();
    }
    if let Some(others) = others {
        write!(text, "[key: string]: {}; ", others.text(dice, declarations)).unwrap();
    }
    text + "}"
}

/// An object type as it stands, as an interface, or through one of TypeScript's helpers.
fn named(
    text: String,
    properties: &[Property],
    closed: bool,
    dice: &mut Dice,
    declarations: &mut String,
) -> String {
    let name = format!("N{}", declarations.len());
    match dice.roll(6) {
        0 => writeln!(declarations, "interface {name} {text}").unwrap(),
        1 => writeln!(declarations, "type {name}<T = 1> = {text}").unwrap(),
        2 => {
            writeln!(declarations, "interface {name} extends {name}a {{}}\ninterface {name}a {text}")
                .unwrap();
        }
        3 if closed => return format!("Omit<{text} & {{ gone: 1 }}, 'gone'>"),
        4 if closed && !properties.is_empty() => {
            let keys: Vec<String> = properties.iter().map(|it| format!("'{}'", it.name)).collect();
            return format!("Pick<{text} & {{ gone: 1 }}, {}>", keys.join(" | "));
        }
        _ => return text,
    }
    name
}

#[test]
fn schemas_take_what_types_take() {
    let mut dice = Dice(7);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..400 {
        let ty = random(&mut dice, 3);
        let mut source = String::new();
        let text = ty.text(&mut dice, &mut source);
        source.push_str(&format!("type Input = {text}\n"));
        let schema =
            interface_schema(&source, "Input").unwrap_or_else(|problems| panic!("{source}{problems:?}"));
        let validator = jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{source}{error}"));
        let mut values: Vec<Value> = (0..4).map(|_| ty.value(&mut dice)).collect();
        // Values of other types, which are often nearly of this one.
        values.extend((0..4).map(|_| random(&mut dice, 2).value(&mut dice)));
        for value in values {
            let wanted = ty.takes(&value);
            assert_eq!(validator.is_valid(&value), wanted, "{value}\n{source}{schema:#}");
            if wanted { taken += 1 } else { refused += 1 }
        }
    }
    assert!(taken > 1000 && refused > 500, "{taken} taken, {refused} refused");
}
