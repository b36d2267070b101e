//! A plan's structure as text for programs that draw: Mermaid for documents, DOT for Graphviz.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::graph::{Graph, GraphNode};

impl Graph {
    /// As a Mermaid flowchart, for Markdown.
    pub fn to_mermaid(&self) -> String {
        let mut out = GraphDrawing::new(self, Mermaid);
        out.line("flowchart TD");
        out.nodes(&self.nodes);
        out.edges();
        out.text
    }

    /// In the language of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut out = GraphDrawing::new(self, Dot);
        out.line(&format!("digraph {} {{", quoted(&self.workflow)));
        out.depth += 1;
        // Edges between blocks are drawn between their first and last nodes, and clipped at the blocks.
        out.line("compound=true;");
        out.line("node [shape=box];");
        out.nodes(&self.nodes);
        out.edges();
        out.depth -= 1;
        out.line("}");
        out.text
    }
}

/// How one language writes nodes and edges.
trait Language {
    fn leaf(&self, name: &str, node: &GraphNode) -> String;
    fn open(&self, name: &str, node: &GraphNode) -> Vec<String>;
    fn close(&self) -> &'static str;
    fn edge(&self, from: &Drawn<'_>, to: &Drawn<'_>) -> String;
}

/// A node with the name that it has in the drawing.
struct Drawn<'a> {
    name: String,
    node: &'a GraphNode,
    /// The names of the first and last leaf in it; its own if it is one.
    first: String,
    last: String,
}

struct GraphDrawing<'a, L> {
    graph: &'a Graph,
    language: L,
    text: String,
    depth: usize,
    drawn: BTreeMap<&'a str, Drawn<'a>>,
}

impl<'a, L: Language> GraphDrawing<'a, L> {
    fn new(graph: &'a Graph, language: L) -> Self {
        Self { graph, language, text: String::new(), depth: 0, drawn: BTreeMap::new() }
    }

    fn line(&mut self, line: &str) {
        let indent = self.depth * 2;
        writeln!(self.text, "{:indent$}{line}", "").expect("text can be written to");
    }

    /// Draws nodes; gives the names of the first and the last leaf.
    fn nodes(&mut self, nodes: &'a [GraphNode]) -> Option<(String, String)> {
        let ends: Vec<(String, String)> = nodes.iter().map(|node| self.node(node)).collect();
        Some((ends.first()?.0.clone(), ends.last()?.1.clone()))
    }

    fn node(&mut self, node: &'a GraphNode) -> (String, String) {
        // Paths hold characters that no language takes in names, so nodes are numbered.
        let name = format!("n{}", self.drawn.len());
        let own = || (name.clone(), name.clone());
        self.drawn
            .insert(&node.path, Drawn { name: name.clone(), node, first: name.clone(), last: name.clone() });
        if node.children.is_empty() {
            let line = self.language.leaf(&name, node);
            self.line(&line);
            return own();
        }
        for line in self.language.open(&name, node) {
            self.line(&line);
        }
        self.depth += 1;
        let ends = self.nodes(&node.children);
        self.depth -= 1;
        self.line(self.language.close());
        let (first, last) = ends.unwrap_or_else(own);
        let drawn = Drawn { name, node, first: first.clone(), last: last.clone() };
        self.drawn.insert(&node.path, drawn);
        (first, last)
    }

    fn edges(&mut self) {
        for edge in &self.graph.edges {
            let (from, to) = (self.drawn.get(edge.from.as_str()), self.drawn.get(edge.to.as_str()));
            if let (Some(from), Some(to)) = (from, to) {
                let line = self.language.edge(from, to);
                self.line(&line);
            }
        }
    }
}

struct Mermaid;

impl Mermaid {
    /// Mermaid takes characters by their number; everything that could end the text is written so.
    fn text(text: &str) -> String {
        let written = |c: char| match c {
            '#' => "#35;".to_owned(),
            '"' => "#quot;".to_owned(),
            '<' => "#lt;".to_owned(),
            '>' => "#gt;".to_owned(),
            '&' => "#amp;".to_owned(),
            c if c.is_control() => " ".to_owned(),
            c => c.to_string(),
        };
        text.chars().map(written).collect()
    }
}

impl Language for Mermaid {
    fn leaf(&self, name: &str, node: &GraphNode) -> String {
        let text = Self::text(&node.label);
        match &*node.kind {
            "sleep" | "signal" => format!("{name}([\"{text}\"])"),
            _ => format!("{name}[\"{text}\"]"),
        }
    }

    fn open(&self, name: &str, node: &GraphNode) -> Vec<String> {
        vec![format!("subgraph {name}[\"{}\"]", Self::text(&node.label))]
    }

    fn close(&self) -> &'static str {
        "end"
    }

    fn edge(&self, from: &Drawn<'_>, to: &Drawn<'_>) -> String {
        format!("{} --> {}", from.name, to.name)
    }
}

struct Dot;

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl Language for Dot {
    fn leaf(&self, name: &str, node: &GraphNode) -> String {
        let shape = if matches!(&*node.kind, "sleep" | "signal") { ", style=rounded" } else { "" };
        format!("{name} [label={}{shape}];", quoted(&node.label))
    }

    fn open(&self, name: &str, node: &GraphNode) -> Vec<String> {
        vec![format!("subgraph cluster_{name} {{"), format!("  label={};", quoted(&node.label))]
    }

    fn close(&self) -> &'static str {
        "}"
    }

    fn edge(&self, from: &Drawn<'_>, to: &Drawn<'_>) -> String {
        let clip = |end: &str, drawn: &Drawn<'_>| {
            (!drawn.node.children.is_empty()).then(|| format!("{end}=cluster_{}", drawn.name))
        };
        let clips: Vec<String> = clip("ltail", from).into_iter().chain(clip("lhead", to)).collect();
        let clips = if clips.is_empty() { String::new() } else { format!(" [{}]", clips.join(", ")) };
        format!("{} -> {}{clips};", from.last, to.first)
    }
}
