//! What JavaScript leaves to Rust.

use rival_script_host::frame::{FromHost, ToHost};
use serde_json::json;

use crate::lab::{Lab, Place};

/// Calls a function with this body and gives what it returns.
fn run(body: &str) -> serde_json::Value {
    let code = format!(
        "export const name = 'flow'; export async function go({{ input }}) {{ {body} }}; export const steps = [go]"
    );
    Lab::of(Place::Thread, &code).call("go", json!(null)).unwrap()
}

#[test]
fn text_becomes_bytes_and_text_again() {
    let body = r"
        const bytes = (text) => [...new TextEncoder().encode(text)]
        const text = (label, ...all) => new TextDecoder(label).decode(new Uint8Array(all))
        let fatal
        try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff])) } catch (error) { fatal = error.name }
        return [bytes('é😀'), bytes('a\ud83d'), text('utf-8', 0xf0, 0x9f, 0x98, 0x80), text('utf-8', 0x61, 0xff),
            text('utf-16le', 0x3d, 0xd8, 0x00, 0xde), text('latin1', 0x80, 0xe9), fatal]";
    let expected = json!([
        [0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x80],
        [0x61, 0xef, 0xbf, 0xbd],
        "😀",
        "a\u{fffd}",
        "😀",
        "€é",
        "TypeError"
    ]);
    assert_eq!(run(body), expected);
}

#[test]
fn urls_are_taken_apart_and_changed() {
    let body = "
        const url = new URL('../b?x=1#y', 'https://ada:pw@example.com:8443/a/c/')
        const before = [url.href, url.origin, url.username, url.port, url.pathname, url.search, url.hash]
        url.port = '443'; url.protocol = 'http'; url.hash = ''; url.search = 'q=ä'
        const wrong = ['nonsense', '//no.base', 'http://[1'].map((text) => URL.canParse(text))
        return [before, url.href, wrong]";
    let expected = json!([
        [
            "https://ada:pw@example.com:8443/a/b?x=1#y",
            "https://example.com:8443",
            "ada",
            "8443",
            "/a/b",
            "?x=1",
            "#y"
        ],
        "http://ada:pw@example.com/a/b?q=%C3%A4",
        [false, false, false]
    ]);
    assert_eq!(run(body), expected);
}

#[test]
fn chance_is_chance() {
    let body = "
        const some = () => [...crypto.getRandomValues(new Uint8Array(16))].join()
        let refused
        try { crypto.getRandomValues(new Uint8Array(65_537)) } catch (error) { refused = error.name }
        const ids = [crypto.randomUUID(), crypto.randomUUID()]
        return [some() !== some(), ids[0] !== ids[1], /^[0-9a-f-]{36}$/.test(ids[0]), refused]";
    assert_eq!(run(body), json!([true, true, true, "QuotaExceededError"]));
}

#[test]
fn only_what_the_operator_allows_is_in_the_environment() {
    assert_eq!(run("return { ...process.env }"), json!({"GREETING": "hello"}));
}

#[test]
fn halves_of_characters_do_not_break_frames() {
    let code = r"export const name = 'flow'; export const steps = [function go() { throw new Error('\ud83d, \\ud83d, \ude00x') }]";
    let error = Lab::of(Place::Thread, code).call("go", json!(null)).unwrap_err();
    assert_eq!(error.message, "\u{fffd}, \\ud83d, \u{fffd}x");
}

#[test]
fn an_answer_finds_its_way_after_the_call_has_ended() {
    let code = "
        import { WorkflowRegistry } from 'rival'
        export const name = 'flow'
        export function hasty() { new WorkflowRegistry().list().then((list) => console.log('late', list.length)) }
        export const steps = [hasty]";
    let mut lab = Lab::new(Place::Thread);
    let module = crate::lab::module("/flow.js", code, &[("rival", "rival")]);
    lab.tell(&ToHost::Realm { realm: 1, modules: vec![module] });
    let call = lab.begin("hasty", json!(null));
    let (id, op, kind, _) = lab.op();
    assert_eq!((id, kind.as_str()), (call, "registry.list"));
    assert!(matches!(lab.hear(), FromHost::Done { id, .. } if id == call));
    lab.answer(id, op, json!([1, 2]));
    assert_eq!(lab.line(), (call, "late 2".to_owned()));
}
