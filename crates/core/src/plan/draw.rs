//! A plan's structure as text for programs that draw: Mermaid for documents, DOT for Graphviz.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::graph::{Graph, GraphEdge, GraphNode};

impl Graph {
    /// As a Mermaid flowchart, for Markdown.
    pub fn to_mermaid(&self) -> String {
        let mut out = GraphDrawing::new(self, Mermaid);
        out.line("flowchart TD");
        let ends = out.nodes(&self.nodes);
        out.edges();
        out.triggers(ends.as_ref());
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
        let ends = out.nodes(&self.nodes);
        out.edges();
        out.triggers(ends.as_ref());
        out.depth -= 1;
        out.line("}");
        out.text
    }
}

/// How one language writes nodes and edges.
trait Language {
    fn leaf(&self, name: &str, node: &GraphNode) -> String;
    fn open(&self, name: &str, label: &str) -> Vec<String>;
    fn close(&self) -> &'static str;
    fn edge(&self, from: &Drawn, to: &Drawn) -> String;
    /// What a completed run starts, beside the run itself.
    fn trigger(&self, name: &str, label: &str) -> String;
    fn trigger_edge(&self, from: &str, to: &str) -> String;
}

/// A node or a phase, by the name that it has in the drawing.
#[derive(Clone)]
struct Drawn {
    name: String,
    /// The names of the first and last leaf in it; its own if it is one.
    first: String,
    last: String,
}

impl Drawn {
    fn leaf(name: String) -> Self {
        Self { first: name.clone(), last: name.clone(), name }
    }

    fn is_leaf(&self) -> bool {
        self.first == self.name
    }
}

struct GraphDrawing<'a, L> {
    graph: &'a Graph,
    language: L,
    text: String,
    depth: usize,
    drawn: BTreeMap<&'a str, Drawn>,
    /// How many phases are drawn, and which come after which.
    phases: usize,
    phase_edges: Vec<(Drawn, Drawn)>,
}

impl<'a, L: Language> GraphDrawing<'a, L> {
    fn new(graph: &'a Graph, language: L) -> Self {
        let (text, drawn, phase_edges) = (String::new(), BTreeMap::new(), Vec::new());
        Self { graph, language, text, depth: 0, drawn, phases: 0, phase_edges }
    }

    fn line(&mut self, line: &str) {
        let indent = self.depth * 2;
        writeln!(self.text, "{:indent$}{line}", "").expect("text can be written to");
    }

    /// Draws the nodes of a block; gives the names of the first and the last leaf.
    fn nodes(&mut self, nodes: &'a [GraphNode]) -> Option<(String, String)> {
        if nodes.first()?.phase.is_some() {
            return self.phases(nodes);
        }
        self.side_by_side(nodes)
    }

    fn side_by_side(&mut self, nodes: &'a [GraphNode]) -> Option<(String, String)> {
        let ends: Vec<Drawn> = nodes.iter().map(|node| self.node(node)).collect();
        Some((ends.first()?.first.clone(), ends.last()?.last.clone()))
    }

    /// Draws phases, each as a block of its own: one edge leads from phase to phase.
    fn phases(&mut self, nodes: &'a [GraphNode]) -> Option<(String, String)> {
        let mut ends: Vec<Drawn> = Vec::new();
        for phase in nodes.chunk_by(|one, next| one.phase == next.phase) {
            let name = format!("p{}", self.phases);
            self.phases += 1;
            let number = phase[0].phase.map_or(0, |phase| u64::from(phase) + 1);
            let drawn = self.block(name, &format!("phase {number}"), |it| it.side_by_side(phase));
            if let Some(before) = ends.last() {
                self.phase_edges.push((before.clone(), drawn.clone()));
            }
            ends.push(drawn);
        }
        Some((ends.first()?.first.clone(), ends.last()?.last.clone()))
    }

    fn node(&mut self, node: &'a GraphNode) -> Drawn {
        // Paths hold characters that no language takes in names, so nodes are numbered.
        let name = format!("n{}", self.drawn.len());
        self.drawn.insert(&node.path, Drawn::leaf(name.clone()));
        if node.children.is_empty() {
            let line = self.language.leaf(&name, node);
            self.line(&line);
            return Drawn::leaf(name);
        }
        let drawn = self.block(name, &node.label, |it| it.nodes(&node.children));
        self.drawn.insert(&node.path, drawn.clone());
        drawn
    }

    /// Draws what is around others.
    fn block(
        &mut self,
        name: String,
        label: &str,
        inside: impl FnOnce(&mut Self) -> Option<(String, String)>,
    ) -> Drawn {
        for line in self.language.open(&name, label) {
            self.line(&line);
        }
        self.depth += 1;
        let ends = inside(self);
        self.depth -= 1;
        self.line(self.language.close());
        match ends {
            Some((first, last)) => Drawn { name, first, last },
            None => Drawn::leaf(name),
        }
    }

    fn edges(&mut self) {
        let ends =
            |edge: &GraphEdge| Some((self.drawn.get(edge.from.as_str())?, self.drawn.get(edge.to.as_str())?));
        let edges = self.graph.edges.iter().filter_map(ends);
        let edges = edges.chain(self.phase_edges.iter().map(|(from, to)| (from, to)));
        let lines: Vec<String> = edges.map(|(from, to)| self.language.edge(from, to)).collect();
        lines.iter().for_each(|line| self.line(line));
    }

    /// Draws what a completed run starts, each after the last leaf.
    fn triggers(&mut self, ends: Option<&(String, String)>) {
        for (number, trigger) in self.graph.triggers.iter().enumerate() {
            let name = format!("t{number}");
            let what = if trigger.for_each { " for each item" } else { "" };
            let line = self.language.trigger(&name, &format!("starts {}{what}", trigger.workflow));
            self.line(&line);
            if let Some((_, last)) = ends {
                let line = self.language.trigger_edge(last, &name);
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

    fn open(&self, name: &str, label: &str) -> Vec<String> {
        vec![format!("subgraph {name}[\"{}\"]", Self::text(label))]
    }

    fn close(&self) -> &'static str {
        "end"
    }

    fn edge(&self, from: &Drawn, to: &Drawn) -> String {
        format!("{} --> {}", from.name, to.name)
    }

    fn trigger(&self, name: &str, label: &str) -> String {
        format!("{name}[[\"{}\"]]", Self::text(label))
    }

    fn trigger_edge(&self, from: &str, to: &str) -> String {
        format!("{from} -.-> {to}")
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

    fn open(&self, name: &str, label: &str) -> Vec<String> {
        vec![format!("subgraph cluster_{name} {{"), format!("  label={};", quoted(label))]
    }

    fn close(&self) -> &'static str {
        "}"
    }

    fn edge(&self, from: &Drawn, to: &Drawn) -> String {
        let clip =
            |end: &str, drawn: &Drawn| (!drawn.is_leaf()).then(|| format!("{end}=cluster_{}", drawn.name));
        let clips: Vec<String> = clip("ltail", from).into_iter().chain(clip("lhead", to)).collect();
        let clips = if clips.is_empty() { String::new() } else { format!(" [{}]", clips.join(", ")) };
        format!("{} -> {}{clips};", from.last, to.first)
    }

    fn trigger(&self, name: &str, label: &str) -> String {
        format!("{name} [label={}, style=dashed];", quoted(label))
    }

    fn trigger_edge(&self, from: &str, to: &str) -> String {
        format!("{from} -> {to} [style=dashed];")
    }
}
