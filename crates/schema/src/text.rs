//! Schemas as types of TypeScript, for messages.

use std::borrow::Borrow;

use serde_json::Value;

use crate::kinds::KindSet;
use crate::node::{NodeId, SchemaNode};
use crate::path::is_plain;

/// Types inside of types that are shown.
const DEPTH_MAX: usize = 6;

const BARE: [&str; 6] = ["object", "unknown[]", "string", "number", "boolean", "null"];

/// Writes types until there is no room left.
pub(crate) struct TypeWriter<'a, N> {
    nodes: &'a [N],
    room: usize,
    /// Nodes that are being written.
    open: Vec<NodeId>,
    /// Members of unions that are known to hold.
    chosen: Vec<NodeId>,
}

impl<'a, N: Borrow<SchemaNode>> TypeWriter<'a, N> {
    pub(crate) fn new(nodes: &'a [N], length_max: usize) -> Self {
        TypeWriter { nodes, room: length_max, open: Vec::new(), chosen: Vec::new() }
    }

    /// The type of values that satisfy all of these nodes.
    pub(crate) fn write(mut self, ids: &[NodeId]) -> String {
        let length_max = self.room;
        self.chosen = ids.to_vec();
        let parts = ids.iter().map(|id| self.node(*id)).collect();
        shorten(&all_of(parts), length_max)
    }

    fn node(&mut self, id: NodeId) -> String {
        let node = self.nodes[id.0 as usize].borrow();
        if self.open.contains(&id) || self.open.len() >= DEPTH_MAX || self.room == 0 {
            return node.name.clone().unwrap_or_else(|| "…".to_owned());
        }
        self.open.push(id);
        let text = self.parts(node);
        self.open.pop();
        self.room = self.room.saturating_sub(1);
        text
    }

    /// What a node says, joined: its own rules, and its `allOf` and unions.
    fn parts(&mut self, node: &SchemaNode) -> String {
        let mut parts = Vec::new();
        match &node.values {
            Some(values) => parts.push(self.values(values)),
            None => parts.extend(self.own(node)),
        }
        parts.extend(node.all_of.iter().map(|id| self.node(*id)));
        for group in [&node.any_of, &node.one_of] {
            let is_chosen = group.iter().any(|member| {
                let target = &self.nodes[member.0 as usize].borrow().all_of;
                self.chosen.contains(member) || target.iter().any(|id| self.chosen.contains(id))
            });
            if !group.is_empty() && !is_chosen {
                parts.push(self.union(group));
            }
        }
        let excluded = node.not.map(|id| self.nodes[id.0 as usize].borrow().is_trivial());
        match excluded {
            Some(true) => "never".to_owned(),
            Some(false) if parts.iter().all(|text| text == "unknown") => "not …".to_owned(),
            _ => all_of(parts),
        }
    }

    fn union(&mut self, members: &[NodeId]) -> String {
        let mut texts: Vec<String> = Vec::new();
        for member in members {
            let text = self.node(*member);
            if text == "unknown" {
                return text;
            }
            if !texts.contains(&text) && text != "never" {
                texts.push(text);
            }
        }
        joined(&texts, " | ", "never")
    }

    fn values(&mut self, values: &[Value]) -> String {
        let mut texts = Vec::new();
        for value in values {
            if self.room == 0 {
                texts.push("…".to_owned());
                break;
            }
            let text = shorten(&value.to_string(), 40);
            self.room = self.room.saturating_sub(text.chars().count());
            texts.push(text);
        }
        joined(&texts, " | ", "never")
    }

    /// The kinds that the node allows; nothing where it says nothing.
    fn own(&mut self, node: &SchemaNode) -> Option<String> {
        let implied = if node.kinds_stated { KindSet::ALL } else { node.stated() };
        if implied.is_empty() {
            return None;
        }
        let kinds = node.kinds.both(implied);
        let texts = kinds.parts().into_iter().map(|kind| match kind {
            KindSet::OBJECT => self.object(node),
            KindSet::ARRAY => self.array(node),
            KindSet::STRING => match &node.string.format {
                Some(format) => format!("string<{}>", shorten(format, 20)),
                None => "string".to_owned(),
            },
            kind => kind.words(),
        });
        if kinds == KindSet::ALL {
            return None;
        }
        Some(joined(&texts.collect::<Vec<_>>(), " | ", "never"))
    }

    fn object(&mut self, node: &SchemaNode) -> String {
        let rules = &node.object;
        let mut properties: Vec<_> = rules.properties.iter().collect();
        // In the order in which they were read.
        properties.sort_by_key(|(_, id)| **id);
        let mut texts = Vec::new();
        for (name, id) in properties {
            if self.room == 0 {
                texts.push("…".to_owned());
                break;
            }
            self.room = self.room.saturating_sub(name.chars().count() + 4);
            let mark = if rules.required.contains(name) { "" } else { "?" };
            texts.push(format!("{}{mark}: {}", key_text(name), self.node(*id)));
        }
        let undeclared = rules.required.iter().filter(|name| !rules.properties.contains_key(*name));
        texts.extend(undeclared.take(5).map(|name| format!("{}: unknown", key_text(name))));
        let others = rules.additional.filter(|id| !self.nodes[id.0 as usize].borrow().kinds.is_empty());
        let others = others.into_iter().chain(rules.patterns.iter().take(2).map(|(_, id)| *id));
        for id in others.collect::<Vec<_>>() {
            texts.push(format!("[key: string]: {}", self.node(id)));
        }
        match texts.as_slice() {
            [] if rules.additional.is_some() => "{}".to_owned(),
            [] => "object".to_owned(),
            _ => format!("{{ {} }}", texts.join("; ")),
        }
    }

    fn array(&mut self, node: &SchemaNode) -> String {
        let rules = &node.array;
        let rest = rules.rest.map(|id| self.node(id)).unwrap_or_else(|| "unknown".to_owned());
        if rules.prefix.is_empty() {
            return if rest == "never" { "[]".to_owned() } else { format!("{}[]", wrap(rest)) };
        }
        let mut texts = Vec::new();
        for (at, id) in rules.prefix.iter().enumerate() {
            let mark = if (at as u64) < rules.min { "" } else { "?" };
            texts.push(format!("{}{mark}", self.node(*id)));
        }
        if rest != "never" {
            texts.push(format!("...{}[]", wrap(rest)));
        }
        format!("[{}]", texts.join(", "))
    }
}

fn key_text(name: &str) -> String {
    if is_plain(name) && !name.contains('-') { name.to_owned() } else { Value::from(name).to_string() }
}

fn joined(parts: &[String], by: &str, empty: &str) -> String {
    if parts.is_empty() { empty.to_owned() } else { parts.join(by) }
}

/// The type of what is of all these types.
fn all_of(parts: Vec<String>) -> String {
    let mut kept: Vec<String> = Vec::new();
    for text in parts {
        if text != "unknown" && !kept.contains(&text) {
            kept.push(text);
        }
    }
    // Beside a type that says more, the bare kind says nothing.
    let is_bare = |text: &String| BARE.contains(&text.as_str());
    if kept.len() > 1 && !kept.iter().all(is_bare) {
        kept.retain(|text| !is_bare(text));
    }
    let is_many = kept.len() > 1;
    let kept = kept.into_iter().map(|text| if is_many { wrap(text) } else { text });
    joined(&kept.collect::<Vec<_>>(), " & ", "unknown")
}

/// A type that something stands behind.
fn wrap(text: String) -> String {
    let mut depth = 0;
    let is_joined = text.chars().any(|c| {
        match c {
            '{' | '[' | '(' | '<' => depth += 1,
            '}' | ']' | ')' | '>' => depth -= 1,
            _ => {}
        }
        depth == 0 && matches!(c, '|' | '&')
    });
    if is_joined { format!("({text})") } else { text }
}

/// A text with at most so many characters.
pub(crate) fn shorten(text: &str, length_max: usize) -> String {
    if text.chars().count() <= length_max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(length_max.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}
