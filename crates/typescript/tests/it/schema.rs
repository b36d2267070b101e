use expect_test::{Expect, expect};
use rival_typescript::interface_schema;
use serde_json::Value;

/// The schema of `Input`, or what is wrong.
fn shown(source: &str) -> String {
    match interface_schema(source, "Input") {
        Ok(schema) => {
            let parts = schema.as_object().unwrap().iter().filter(|(key, _)| *key != "$schema");
            let schema: serde_json::Map<_, _> =
                parts.map(|(key, part)| (key.clone(), part.clone())).collect();
            serde_json::to_string(&schema).unwrap()
        }
        Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

/// For each line, the schema of a type of that text, after common declarations.
fn types(common: &str, types: &[&str], expected: &Expect) {
    let lines =
        types.iter().map(|ty| format!("{ty}\n    {}\n", shown(&format!("type Input = {ty}\n{common}"))));
    expected.assert_eq(&lines.collect::<String>());
}

fn schema(source: &str, expected: &Expect) {
    expected.assert_eq(&(shown(source) + "\n"));
}

/// Values that the schema of `Input` takes, and values that it does not.
fn samples(source: &str, accepted: &[&str], refused: &[&str]) {
    let schema =
        interface_schema(source, "Input").unwrap_or_else(|problems| panic!("{source}: {problems:?}"));
    jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{source}: {error}"));
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (texts, good) in [(accepted, true), (refused, false)] {
        for text in texts {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(validator.is_valid(&value), good, "{text} of {source}\n{schema:#}");
        }
    }
}

#[test]
fn words_and_literals() {
    types(
        "",
        &[
            "string", "number", "boolean", "null", "any", "unknown", "object", "{}", "never", "'a'", "-1.5",
            "true", "`x`", "1e3",
        ],
        &expect![[r#"
            string
                {"type":"string"}
            number
                {"type":"number"}
            boolean
                {"type":"boolean"}
            null
                {"type":"null"}
            any
                {}
            unknown
                {}
            object
                {"type":"object"}
            {}
                {"type":"object"}
            never
                {"not":{}}
            'a'
                {"const":"a","type":"string"}
            -1.5
                {"const":-1.5,"type":"number"}
            true
                {"const":true,"type":"boolean"}
            `x`
                {"const":"x","type":"string"}
            1e3
                {"const":1000,"type":"number"}
        "#]],
    );
}

#[test]
fn unions_are_as_short_as_they_can_be() {
    types(
        "type Letter = 'a' | 'b'; interface A { a: 1 } interface B { b: 2 }",
        &[
            "'a' | 'b'",
            "1 | 'a'",
            "Letter | null",
            "Letter | 'c' | 'a'",
            "string | number",
            "string | null",
            "'a' | string",
            "true | false",
            "boolean | 'x'",
            "A | B",
            "A | null",
            "A | A",
            "string | A | 1 | 2",
            "string | never",
            "any | string",
            "Letter[] | Letter",
        ],
        &expect![[r#"
            'a' | 'b'
                {"enum":["a","b"],"type":"string"}
            1 | 'a'
                {"enum":[1,"a"]}
            Letter | null
                {"enum":["a","b",null]}
            Letter | 'c' | 'a'
                {"enum":["a","b","c"],"type":"string"}
            string | number
                {"type":["number","string"]}
            string | null
                {"type":["null","string"]}
            'a' | string
                {"type":"string"}
            true | false
                {"type":"boolean"}
            boolean | 'x'
                {"anyOf":[{"const":"x","type":"string"},{"type":"boolean"}]}
            A | B
                {"anyOf":[{"type":"object","properties":{"a":{"const":1,"type":"number"}},"required":["a"]},{"type":"object","properties":{"b":{"const":2,"type":"number"}},"required":["b"]}]}
            A | null
                {"anyOf":[{"type":"null"},{"type":"object","properties":{"a":{"const":1,"type":"number"}},"required":["a"]}]}
            A | A
                {"type":"object","properties":{"a":{"const":1,"type":"number"}},"required":["a"]}
            string | A | 1 | 2
                {"anyOf":[{"enum":[1,2],"type":"number"},{"type":"string"},{"type":"object","properties":{"a":{"const":1,"type":"number"}},"required":["a"]}]}
            string | never
                {"type":"string"}
            any | string
                {}
            Letter[] | Letter
                {"anyOf":[{"enum":["a","b"],"type":"string"},{"type":"array","items":{"enum":["a","b"],"type":"string"}}]}
        "#]],
    );
}

#[test]
fn arrays_and_tuples() {
    types(
        "type Pair = [string, number]",
        &[
            "string[]",
            "Array<'a' | 'b'>",
            "readonly (number | null)[]",
            "ReadonlyArray<string>[]",
            "(string | undefined)[]",
            "[]",
            "[string, number]",
            "[string, number?]",
            "[first: string, second?: number]",
            "[string, ...number[]]",
            "[head: string, ...tail: number[]]",
            "[...Pair, boolean]",
            "[string | undefined, number]",
            "readonly [1]",
        ],
        &expect![[r#"
            string[]
                {"type":"array","items":{"type":"string"}}
            Array<'a' | 'b'>
                {"type":"array","items":{"enum":["a","b"],"type":"string"}}
            readonly (number | null)[]
                {"type":"array","items":{"type":["null","number"]}}
            ReadonlyArray<string>[]
                {"type":"array","items":{"type":"array","items":{"type":"string"}}}
            (string | undefined)[]
                {"type":"array","items":{"type":["null","string"]}}
            []
                {"type":"array","items":false}
            [string, number]
                {"type":"array","items":false,"prefixItems":[{"type":"string"},{"type":"number"}],"minItems":2}
            [string, number?]
                {"type":"array","items":false,"prefixItems":[{"type":"string"},{"type":"number"}],"minItems":1}
            [first: string, second?: number]
                {"type":"array","items":false,"prefixItems":[{"type":"string"},{"type":"number"}],"minItems":1}
            [string, ...number[]]
                {"type":"array","items":{"type":"number"},"prefixItems":[{"type":"string"}],"minItems":1}
            [head: string, ...tail: number[]]
                {"type":"array","items":{"type":"number"},"prefixItems":[{"type":"string"}],"minItems":1}
            [...Pair, boolean]
                {"type":"array","items":false,"prefixItems":[{"type":"string"},{"type":"number"},{"type":"boolean"}],"minItems":3}
            [string | undefined, number]
                {"type":"array","items":false,"prefixItems":[{"type":["null","string"]},{"type":"number"}],"minItems":2}
            readonly [1]
                {"type":"array","items":false,"prefixItems":[{"const":1,"type":"number"}],"minItems":1}
        "#]],
    );
    samples(
        "type Input = [string, number?, ...boolean[]]",
        &[r#"["a"]"#, r#"["a", 1]"#, r#"["a", 1, true, false]"#],
        &["[]", "[1]", r#"["a", true]"#, r#"["a", 1, 2]"#],
    );
    samples("type Input = [string, number]", &[r#"["a", 1]"#], &[r#"["a"]"#, r#"["a", 1, 2]"#]);
    samples("type Input = []", &["[]"], &["[1]"]);
}

#[test]
fn objects() {
    schema(
        "interface Base { id: string; note?: string }
         export interface Input extends Base, Partial<Pick<Other, 'x'>> { readonly count: number; 'full name': string; 7: boolean; note: string | undefined; none?: never }
         interface Other { x: { deep: true }; y: 1 }
         interface Input { merged: null }",
        &expect![[r#"
            {"type":"object","properties":{"id":{"type":"string"},"note":{"type":"string"},"x":{"type":"object","properties":{"deep":{"const":true,"type":"boolean"}},"required":["deep"]},"count":{"type":"number"},"full name":{"type":"string"},"7":{"type":"boolean"},"none":{"not":{}},"merged":{"type":"null"}},"required":["id","count","full name","7","merged"]}
        "#]],
    );
    samples(
        "interface Input { id: string; note?: string; maybe: number | undefined; gone?: undefined }",
        &[r#"{"id": "a"}"#, r#"{"id": "a", "note": "b", "maybe": 1, "more": 1}"#],
        &[
            "{}",
            "[]",
            r#"{"id": 1}"#,
            r#"{"id": "a", "note": null}"#,
            r#"{"id": "a", "maybe": "x"}"#,
            r#"{"id": "a", "gone": 1}"#,
        ],
    );
}

#[test]
fn records_and_index_signatures() {
    types(
        "enum Color { Red = 'red', Blue = 'blue' }",
        &[
            "Record<string, number>",
            "Record<'a' | 'b', number>",
            "Partial<Record<'a', number>>",
            "Record<Color, 1>",
            "Record<number, string>",
            "{ [key: string]: string[] }",
            "{ id: string; [key: string]: unknown }",
            "{ [at: number]: string }",
            "Record<string, string | undefined>",
        ],
        &expect![[r#"
            Record<string, number>
                {"type":"object","additionalProperties":{"type":"number"}}
            Record<'a' | 'b', number>
                {"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}
            Partial<Record<'a', number>>
                {"type":"object","properties":{"a":{"type":"number"}}}
            Record<Color, 1>
                {"type":"object","properties":{"red":{"const":1,"type":"number"},"blue":{"const":1,"type":"number"}},"required":["red","blue"]}
            Record<number, string>
                {"type":"object","patternProperties":{"^-?[0-9]+([.][0-9]+)?$":{"type":"string"}}}
            { [key: string]: string[] }
                {"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}}}
            { id: string; [key: string]: unknown }
                {"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":{}}
            { [at: number]: string }
                {"type":"object","patternProperties":{"^-?[0-9]+([.][0-9]+)?$":{"type":"string"}}}
            Record<string, string | undefined>
                {"type":"object","additionalProperties":{"type":"string"}}
        "#]],
    );
    samples(
        "interface Input { id: number; [key: string]: number }",
        &[r#"{"id": 1, "x": 2}"#],
        &[r#"{"id": 1, "x": "2"}"#, r#"{"x": 1}"#],
    );
    samples("type Input = { [at: number]: string }", &[r#"{"1": "a", "x": 1}"#], &[r#"{"1": 1}"#]);
}

#[test]
fn enums() {
    types(
        "enum Size { S = 1, M, L = S << 3 } enum Color { Red = 'red', Blue = 'b' + 'lue' } const enum Both { A, B = 'b' } enum Gone { X = f() }",
        &[
            "Size",
            "Color",
            "Both",
            "Size.M",
            "Color.Red | Color.Blue",
            "Exclude<Color, Color.Red>",
            "Gone",
            "Size.XL",
        ],
        &expect![[r#"
            Size
                {"enum":[1,2,8],"type":"number"}
            Color
                {"enum":["red","blue"],"type":"string"}
            Both
                {"enum":[0,"b"]}
            Size.M
                {"const":2,"type":"number"}
            Color.Red | Color.Blue
                {"enum":["red","blue"],"type":"string"}
            Exclude<Color, Color.Red>
                {"const":"blue","type":"string"}
            Gone
                transform.ts:1:14: the value of `Gone.X` is computed
                Give it a number or a string.
            Size.XL
                transform.ts:1:14: this name leads nowhere
                Only members of enums have a dot.
        "#]],
    );
}

#[test]
fn generics() {
    types(
        "interface Page<T, Cursor = string | null> { items: T[]; next: Cursor }
         type Maybe<T> = T | null; type Both<A, B = A> = [A, B]; interface Box<T> { value: T } interface Named<T> extends Box<T> { name: string }",
        &[
            "Page<string>", "Page<{ id: number }, number>", "Maybe<Box<Maybe<string>>>", "Both<1>", "Both<1, 2>", "Named<Named<1>>", "Page",
        ],
        &expect![[r#"
            Page<string>
                {"type":"object","properties":{"items":{"type":"array","items":{"type":"string"}},"next":{"type":["null","string"]}},"required":["items","next"]}
            Page<{ id: number }, number>
                {"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"number"}},"required":["id"]}},"next":{"type":"number"}},"required":["items","next"]}
            Maybe<Box<Maybe<string>>>
                {"anyOf":[{"type":"null"},{"type":"object","properties":{"value":{"type":["null","string"]}},"required":["value"]}]}
            Both<1>
                {"type":"array","items":false,"prefixItems":[{"const":1,"type":"number"},{"const":1,"type":"number"}],"minItems":2}
            Both<1, 2>
                {"type":"array","items":false,"prefixItems":[{"const":1,"type":"number"},{"const":2,"type":"number"}],"minItems":2}
            Named<Named<1>>
                {"type":"object","properties":{"value":{"type":"object","properties":{"value":{"const":1,"type":"number"},"name":{"type":"string"}},"required":["value","name"]},"name":{"type":"string"}},"required":["value","name"]}
            Page
                transform.ts:1:14: the type parameter `T` is not given
                Give it, or give the parameter a default.
        "#]],
    );
}

#[test]
fn types_that_contain_themselves_have_names() {
    schema(
        "/** A tree. */
         interface Input { value: string; /** Below. */ left?: Input; kids: Input[] }",
        &expect![[r##"
            {"$ref":"#/$defs/Input","$defs":{"Input":{"type":"object","properties":{"value":{"type":"string"},"left":{"$ref":"#/$defs/Input","description":"Below."},"kids":{"type":"array","items":{"$ref":"#/$defs/Input"}}},"required":["value","kids"],"description":"A tree."}}}
        "##]],
    );
    schema(
        "type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
         interface Input { data: Json; more: Json }",
        &expect![[r##"
            {"type":"object","properties":{"data":{"$ref":"#/$defs/Json"},"more":{"$ref":"#/$defs/Json"}},"required":["data","more"],"$defs":{"Json":{"anyOf":[{"type":["boolean","null","number","string"]},{"type":"array","items":{"$ref":"#/$defs/Json"}},{"type":"object","additionalProperties":{"$ref":"#/$defs/Json"}}]}}}
        "##]],
    );
    schema(
        "interface Tree<T> { value: T; kids: Tree<T>[] }
         interface Input { names: Tree<string>; sizes: Tree<number>; part: Partial<Node> }
         interface Node { next?: Partial<Node> }",
        &expect![[r##"
            {"type":"object","properties":{"names":{"$ref":"#/$defs/Tree_string"},"sizes":{"$ref":"#/$defs/Tree_number"},"part":{"$ref":"#/$defs/Partial_Node"}},"required":["names","sizes","part"],"$defs":{"Tree_string":{"type":"object","properties":{"value":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/Tree_string"}}},"required":["value","kids"]},"Tree_number":{"type":"object","properties":{"value":{"type":"number"},"kids":{"type":"array","items":{"$ref":"#/$defs/Tree_number"}}},"required":["value","kids"]},"Partial_Node":{"type":"object","properties":{"next":{"$ref":"#/$defs/Partial_Node"}}}}}
        "##]],
    );
    schema(
        "type Input = A; interface A { b?: B } interface B { a?: A; c: C } interface C { n: 1 }",
        &expect![[r##"
            {"type":"object","properties":{"b":{"$ref":"#/$defs/B"}},"$defs":{"B":{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"$ref":"#/$defs/B"}}},"c":{"type":"object","properties":{"n":{"const":1,"type":"number"}},"required":["n"]}},"required":["c"]}}}
        "##]],
    );
    samples(
        "interface Input { value: string; kids: Input[] }",
        &[r#"{"value": "a", "kids": [{"value": "b", "kids": []}]}"#],
        &[r#"{"value": "a", "kids": [{"value": 1, "kids": []}]}"#, r#"{"value": "a", "kids": [{}]}"#],
    );
    samples(
        "type Input = string | number | boolean | null | Input[] | { [key: string]: Input }",
        &["1", "null", r#"{"a": [1, {"b": "c"}]}"#],
        &[],
    );
}

#[test]
fn helpers() {
    types(
        "interface User { id: number; name?: string; tags: string[]; address?: { city: string } | undefined }
         type Shape = { kind: 'circle'; r: number } | { kind: 'square'; side: number }
         interface A { a: 1 } interface B { b: 1 }",
        &[
            "Partial<User>",
            "Required<User>",
            "Readonly<Pick<User, 'id'>>",
            "Pick<User, 'id' | 'name'>",
            "Omit<User, 'tags' | 'address'>",
            "Omit<User, 'id'>['tags']",
            "User['id']",
            "User['name']",
            "User['id' | 'name']",
            "User['tags'][number]",
            "keyof User",
            "User[keyof Pick<User, 'id' | 'tags'>]",
            "NonNullable<User['address']>",
            "Exclude<'a' | 'b' | 1, 'a' | number>",
            "Extract<keyof User, 'id' | 'x'>",
            "{ [K in 'a' | 'b']: K }",
            "{ [K in keyof User]: boolean }",
            "{ [K in keyof User]?: User[K] }",
            "{ [K in keyof User]-?: User[K] }",
            "{ readonly [K in string]: number }",
            "Partial<Shape>",
            "Shape['kind']",
            "[1, 2][number]",
            "[1, 2][0]",
            "User & { extra: true }",
            "{ a: string } & { a: 'x'; b?: 1 }",
            "('a' | 'b') & ('b' | 'c')",
            "(A | B) & { c: 1 }",
            "string & { __brand: 'id' }",
            "string & number",
            "Record<'x', User>['x']['tags']",
        ],
        &expect![[r#"
            Partial<User>
                {"type":"object","properties":{"id":{"type":"number"},"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"address":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
            Required<User>
                {"type":"object","properties":{"id":{"type":"number"},"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"address":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}},"required":["id","name","tags","address"]}
            Readonly<Pick<User, 'id'>>
                {"type":"object","properties":{"id":{"type":"number"}},"required":["id"]}
            Pick<User, 'id' | 'name'>
                {"type":"object","properties":{"id":{"type":"number"},"name":{"type":"string"}},"required":["id"]}
            Omit<User, 'tags' | 'address'>
                {"type":"object","properties":{"id":{"type":"number"},"name":{"type":"string"}},"required":["id"]}
            Omit<User, 'id'>['tags']
                {"type":"array","items":{"type":"string"}}
            User['id']
                {"type":"number"}
            User['name']
                {"type":"string"}
            User['id' | 'name']
                {"type":["number","string"]}
            User['tags'][number]
                {"type":"string"}
            keyof User
                {"enum":["id","name","tags","address"],"type":"string"}
            User[keyof Pick<User, 'id' | 'tags'>]
                {"anyOf":[{"type":"number"},{"type":"array","items":{"type":"string"}}]}
            NonNullable<User['address']>
                {"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}
            Exclude<'a' | 'b' | 1, 'a' | number>
                {"const":"b","type":"string"}
            Extract<keyof User, 'id' | 'x'>
                {"const":"id","type":"string"}
            { [K in 'a' | 'b']: K }
                {"type":"object","properties":{"a":{"const":"a","type":"string"},"b":{"const":"b","type":"string"}},"required":["a","b"]}
            { [K in keyof User]: boolean }
                {"type":"object","properties":{"id":{"type":"boolean"},"name":{"type":"boolean"},"tags":{"type":"boolean"},"address":{"type":"boolean"}},"required":["id","tags"]}
            { [K in keyof User]?: User[K] }
                {"type":"object","properties":{"id":{"type":"number"},"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"address":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}
            { [K in keyof User]-?: User[K] }
                {"type":"object","properties":{"id":{"type":"number"},"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"address":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}},"required":["id","name","tags","address"]}
            { readonly [K in string]: number }
                {"type":"object","additionalProperties":{"type":"number"}}
            Partial<Shape>
                {"anyOf":[{"type":"object","properties":{"kind":{"const":"circle","type":"string"},"r":{"type":"number"}}},{"type":"object","properties":{"kind":{"const":"square","type":"string"},"side":{"type":"number"}}}]}
            Shape['kind']
                {"enum":["circle","square"],"type":"string"}
            [1, 2][number]
                {"enum":[1,2],"type":"number"}
            [1, 2][0]
                {"const":1,"type":"number"}
            User & { extra: true }
                {"type":"object","properties":{"id":{"type":"number"},"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"address":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]},"extra":{"const":true,"type":"boolean"}},"required":["id","tags","extra"]}
            { a: string } & { a: 'x'; b?: 1 }
                {"type":"object","properties":{"a":{"const":"x","type":"string"},"b":{"const":1,"type":"number"}},"required":["a"]}
            ('a' | 'b') & ('b' | 'c')
                {"const":"b","type":"string"}
            (A | B) & { c: 1 }
                {"anyOf":[{"type":"object","properties":{"a":{"const":1,"type":"number"},"c":{"const":1,"type":"number"}},"required":["a","c"]},{"type":"object","properties":{"b":{"const":1,"type":"number"},"c":{"const":1,"type":"number"}},"required":["b","c"]}]}
            string & { __brand: 'id' }
                {"type":"string"}
            string & number
                {"not":{}}
            Record<'x', User>['x']['tags']
                {"type":"array","items":{"type":"string"}}
        "#]],
    );
    samples(
        "interface User { id: number; name?: string } type Input = User & { extra: true }",
        &[r#"{"id": 1, "extra": true}"#],
        &[r#"{"id": 1}"#, r#"{"id": 1, "extra": false}"#, r#"{"extra": true}"#],
    );
    samples(
        "type Input = { kind: 'circle'; r: number } | { kind: 'square'; side: number }",
        &[r#"{"kind": "circle", "r": 1}"#, r#"{"kind": "square", "side": 1}"#],
        &[r#"{"kind": "circle", "side": 1}"#, r#"{"kind": "round", "r": 1}"#],
    );
}

#[test]
fn comments_are_descriptions() {
    schema(
        "/**
          * What goes in.
          *
          * Two paragraphs.
          * @internal
          */
         export interface Input {
             /** The id. */
             id: string
             // not this
             plain: string
             /* nor this */ other: string
             /** Where to. */ address: Address
             home: Address
         }
         /** A place. */
         type Address = { /** Of the city. */ city: string }",
        &expect![[r#"
            {"type":"object","properties":{"id":{"type":"string","description":"The id."},"plain":{"type":"string"},"other":{"type":"string"},"address":{"type":"object","properties":{"city":{"type":"string","description":"Of the city."}},"required":["city"],"description":"Where to."},"home":{"type":"object","properties":{"city":{"type":"string","description":"Of the city."}},"required":["city"],"description":"A place."}},"required":["id","plain","other","address","home"],"description":"What goes in.\n\nTwo paragraphs."}
        "#]],
    );
}

#[test]
fn what_json_does_not_have_is_refused_with_its_place() {
    let wrong = [
        "interface Input {\n  a: string\n  f: () => void\n  m(): string\n  new (): Input\n}",
        "interface Input { at: Date; all: Map<string, number>; set: Set<string>; big: bigint; s: symbol; n: 10n }",
        "type Input = string extends infer T ? T : never",
        "const x = { a: 1 }\ntype Input = typeof x",
        "import type { User } from './user'\ninterface Input { user: User }",
        "type Input = import('./x').User",
        "type Input = `a-${string}`",
        "interface Input { user: Usr }\ninterface User {}",
        "interface Input { user: String; more: Missing }",
        "class User { id = 1 }\ninterface Input { user: User }",
        "interface Input { [Symbol.iterator]: 1 }",
        "type Input = { [K in keyof A as `x${K}`]: 1 }\ninterface A { a: 1 }",
        "type Input = A['z']\ninterface A { a: 1 }",
        "type Input = Pick<string, 'length'>",
        "type Input = Partial",
        "interface Input<T> { t: T }",
        "interface Input extends Letter {}\ntype Letter = 'a'",
        "type Input = Input",
        "type Input = Input | string",
        "type Input = Grow<1>; type Grow<T> = { next: Grow<T[]> }",
        "interface Other {}",
        "interface Inputs {}",
        "interface Input { a: ; }",
        "namespace N { export interface A {} }\ntype Input = N.A",
        "type Input = [...string[], number]",
        "interface Input { self: this }",
        "type Input = { [key: `x${string}`]: 1 }",
        "interface Input extends Input { a: 1 }",
        "interface Input { kids: { [K in keyof Input]: Input[K] }[] }",
    ];
    expect![[r#"
        interface Input {
          a: string
          f: () => void
          m(): string
          new (): Input
        }
        => transform.ts:3:6: a function is not JSON
            Leave it out.
        transform.ts:4:3: a function is not JSON
            Leave it out.
        transform.ts:5:3: a function is not JSON
            Leave it out.
        interface Input { at: Date; all: Map<string, number>; set: Set<string>; big: bigint; s: symbol; n: 10n }
        => transform.ts:1:23: the type `Date` is not known here
            JSON has no dates: write `string`.
        transform.ts:1:34: the type `Map` is not known here
            JSON has no maps: write `Record<string, T>`.
        transform.ts:1:60: the type `Set` is not known here
            JSON has no sets: write `T[]`.
        transform.ts:1:78: a bigint is not JSON
            Write `number` or `string`.
        transform.ts:1:89: a symbol is not JSON
            Write `string`.
        transform.ts:1:100: this literal is not JSON
            Write a number or a string.
        type Input = string extends infer T ? T : never
        => transform.ts:1:14: conditional types are not supported
            Write out the type that is meant.
        const x = { a: 1 }
        type Input = typeof x
        => transform.ts:2:14: `typeof` is not supported in types
            Write out the type of the value.
        import type { User } from './user'
        interface Input { user: User }
        => transform.ts:2:25: `User` is declared in another file
            Declare it here.
        type Input = import('./x').User
        => transform.ts:1:14: types of other files are not followed
            Declare the type here.
        type Input = `a-${string}`
        => transform.ts:1:14: template types are not supported
            Write `string`, or a union of the texts.
        interface Input { user: Usr }
        interface User {}
        => transform.ts:1:25: the type `Usr` is not known here
            Did you mean `User`?
        interface Input { user: String; more: Missing }
        => transform.ts:1:25: the type `String` is not known here
            Write `string`.
        transform.ts:1:39: the type `Missing` is not known here
            Declare it: `interface Missing { … }`.
        class User { id = 1 }
        interface Input { user: User }
        => transform.ts:2:25: `User` is a class
            Write an interface with its properties.
        interface Input { [Symbol.iterator]: 1 }
        => transform.ts:1:19: the name of this property is computed
            Write the name.
        type Input = { [K in keyof A as `x${K}`]: 1 }
        interface A { a: 1 }
        => transform.ts:1:33: `as` is not supported in mapped types
            Write out the properties.
        type Input = A['z']
        interface A { a: 1 }
        => transform.ts:1:14: there is no such property
            Name one that the type has.
        type Input = Pick<string, 'length'>
        => transform.ts:1:14: this is for object types
            Write out the type that is meant.
        type Input = Partial
        => transform.ts:1:14: `Partial` needs a type
            Write `Partial<…>`.
        interface Input<T> { t: T }
        => transform.ts:1:1: the type parameter `T` is not given
            Give it, or give the parameter a default.
        interface Input extends Letter {}
        type Letter = 'a'
        => transform.ts:1:25: an interface can extend object types only
            Use a type: `type A = B & { … }`.
        type Input = Input
        => transform.ts:1:14: this type is too large, or never ends
            Give its parts names, and make it smaller.
        type Input = Input | string
        => transform.ts:1:14: this type is too large, or never ends
            Give its parts names, and make it smaller.
        type Input = Grow<1>; type Grow<T> = { next: Grow<T[]> }
        => transform.ts:1:46: this type is too large, or never ends
            Give its parts names, and make it smaller.
        interface Other {}
        => transform.ts:1:1: there is no interface or type `Input`
            Write `interface Input { … }`.
        interface Inputs {}
        => transform.ts:1:1: there is no interface or type `Input`
            Is it `Inputs`?
        interface Input { a: ; }
        => transform.ts:1:22: Unexpected token
            The line is: interface Input { a: ; }
        namespace N { export interface A {} }
        type Input = N.A
        => transform.ts:2:14: this name leads nowhere
            Only members of enums have a dot.
        type Input = [...string[], number]
        => transform.ts:1:28: nothing may follow the rest of a tuple
            Put `...` last.
        interface Input { self: this }
        => transform.ts:1:25: `this` is not supported in types
            Write the name of the interface.
        type Input = { [key: `x${string}`]: 1 }
        => transform.ts:1:17: keys are strings or numbers here
            Write `[key: string]`.
        interface Input extends Input { a: 1 }
        => transform.ts:1:25: this type is too large, or never ends
            Give its parts names, and make it smaller.
        interface Input { kids: { [K in keyof Input]: Input[K] }[] }
        => transform.ts:1:47: this type is too large, or never ends
            Give its parts names, and make it smaller.
    "#]].assert_eq(&wrong.map(|source| format!("{source}\n=> {}\n", shown(source))).concat());
}
