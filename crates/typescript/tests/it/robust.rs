//! Whatever a file holds, loading it ends, and says what is wrong or gives code.

use rival_typescript::{interface_schema, transform, usage};

use crate::dice::Dice;
use crate::folder::Folder;

/// Texts that have a bit of everything.
const SEEDS: [&str; 4] = [
    "import { z } from 'zod'\nimport { workflow, createWorkflow } from 'rival'\nimport data from './data.json' with { type: 'json' }\nexport * from './b'\nenum Size { S = 1, M }\nexport const input = z.object({ a: z.string() })\nasync function find({ steps, input }: { steps: any, input: { a?: string } }) { return `${input.a ?? steps.x.result}` }\nexport const steps = [find, workflow('./b.ts'), { fn: find as any, timeout: 1e3 }] satisfies unknown[]\n",
    "interface Input<T = string> extends Partial<Base> { /** A. */ a: T[]; b?: [x: 1, ...y: string[]]; c: { [K in keyof Base]: Base[K] } & { d: 'é🌳' } }\ninterface Base { next: Input | null; at: Record<'x' | 'y', number> }\ntype Output = Omit<Input, 'a'>['b'] | Exclude<keyof Base, 'at'>\nexport default (input: Input): Output => /(a|b)+/u.test(input.a[0]) ? undefined : 'at'\n",
    "class A<T> { #x = 1; static async *y(z: T, ...r: number[]) { for await (const q of r) yield* [q, await 1] } get v() { return this.#x } }\nlabel: for (let i = 0; i < 10; i++) { if (i) continue label; else { break } }\nexport default new A<string>()\n",
    "{\"a\": [1, -2.5e3, \"\\u00e9\"], \"__proto__\": null}",
];

/// A seed with some bytes changed, taken out, doubled or put in.
fn mutated(dice: &mut Dice) -> Vec<u8> {
    const PIECES: [&[u8]; 12] =
        [b"(", b"{", b"<", b"`${", b"/*", b"'", b"=>", b"\\u{", b"\xff", b"import ", b"\0", b"\xf0\x9f"];
    let mut text = SEEDS[dice.roll(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..=dice.roll(3) {
        let (at, length) = (dice.roll(text.len()), dice.roll(20));
        let end = (at + length).min(text.len());
        match dice.roll(4) {
            0 => drop(text.drain(at..end)),
            1 => text.splice(at..at, text[at..end].to_vec()).for_each(drop),
            2 => text.splice(at..at, PIECES[dice.roll(PIECES.len())].iter().copied()).for_each(drop),
            _ => text[at..end].reverse(),
        }
        if text.is_empty() {
            text.push(b'x');
        }
    }
    text
}

#[test]
fn no_file_can_break_the_loader() {
    let folder = Folder::new(&[("b.ts", "export const steps = []"), ("data.json", "{}")]);
    let mut dice = Dice(1);
    let (mut good, mut broken) = (0, 0);
    for _ in 0..400 {
        let bytes = mutated(&mut dice);
        folder.write("a.ts", &bytes);
        folder.write("c.json", &bytes);
        for name in ["a.ts", "c.json"] {
            let program = folder.load(&[name]);
            let problems = program.problems(&folder.path(name));
            assert!(problems.iter().all(|problem| problem.line > 0 && problem.column > 0));
            if problems.is_empty() { good += 1 } else { broken += 1 }
        }
        let text = String::from_utf8_lossy(&bytes);
        let _ = (transform(&text), interface_schema(&text, "Input"), usage(&text));
    }
    assert!(good > 20 && broken > 200, "mutations of both kinds: {good} good, {broken} broken");
}

#[test]
fn texts_may_nest_as_deep_as_they_like() {
    let kinds = [
        ("", "(", "1", ")"),
        ("", "[", "1", "]"),
        ("", "({a:", "1", "})"),
        ("", "a=>", "1", ""),
        ("", "!", "1", ""),
        ("", "1+", "1", ""),
        ("", "function f(){", "", "}"),
        ("", "class A{x=", "1", "}"),
        ("", "`${", "1", "}`"),
        ("let x: ", "A<", "B", ">"),
        ("let x: ", "[", "B", "]"),
        ("type Input = ", "{a:", "B", "}"),
        ("type Input = ", "(", "B", ")[]"),
    ];
    for (start, open, middle, close) in kinds {
        let times = 20_000 / open.len();
        let text = format!("{start}{}{middle}{}", open.repeat(times), close.repeat(times));
        let _ = (transform(&text), interface_schema(&text, "Input"), usage(&text));
    }
    assert!(transform(&"(".repeat(1 << 20)).is_err());
}

#[test]
fn types_may_be_as_large_as_they_like() {
    let doubled: String = (0..40).map(|n| format!("type T{n} = [T{}, T{}];", n + 1, n + 1)).collect();
    let unions: String = (0..12)
        .map(|n| format!(" & ({})", (0..9).map(|k| format!("{{ a{n}: {k} }}")).collect::<Vec<_>>().join("|")))
        .collect();
    for source in [format!("type Input = T0; {doubled} type T40 = 1"), format!("type Input = {{}}{unions}")] {
        let problems = interface_schema(&source, "Input").unwrap_err();
        assert!(problems.iter().all(|problem| problem.message.contains("too ")), "{problems:?}");
    }
}
