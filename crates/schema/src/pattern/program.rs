//! An expression as a machine whose states are followed side by side: the time is linear in the text.

use std::collections::BTreeSet;

use super::parse::word_ranges;
use super::{CharClass, PatternPart};

/// Instructions of a program with those of its parts.
const SIZE_MAX: usize = 3_000;

/// Steps of one match.
const STEPS_MAX: usize = 200_000;

#[derive(Clone, Debug)]
enum Instruction {
    Class(CharClass),
    Split(usize, usize),
    Jump(usize),
    Start,
    End,
    WordEdge { negated: bool },
    Look { program: PatternProgram, negated: bool },
    Match,
}

#[derive(Clone, Debug)]
pub(super) struct PatternProgram {
    code: Vec<Instruction>,
}

impl PatternProgram {
    /// `None` if it would be too large.
    pub(super) fn of(part: &PatternPart) -> Option<PatternProgram> {
        let mut program = PatternProgram { code: Vec::new() };
        program.add(part)?;
        program.code.push(Instruction::Match);
        Some(program)
    }

    fn add(&mut self, part: &PatternPart) -> Option<()> {
        if self.code.len() > SIZE_MAX {
            return None;
        }
        match part {
            PatternPart::Class(class) => self.code.push(Instruction::Class(class.clone())),
            PatternPart::Start => self.code.push(Instruction::Start),
            PatternPart::End => self.code.push(Instruction::End),
            PatternPart::WordEdge { negated } => self.code.push(Instruction::WordEdge { negated: *negated }),
            PatternPart::Look { part, negated } => {
                let program = PatternProgram::of(part)?;
                self.code.push(Instruction::Look { program, negated: *negated });
            }
            PatternPart::Sequence(parts) => parts.iter().try_for_each(|part| self.add(part))?,
            PatternPart::Either(parts) => self.add_either(parts)?,
            PatternPart::Repeat { part, min, max } => self.add_repeat(part, *min, *max)?,
        }
        Some(())
    }

    fn add_either(&mut self, parts: &[PatternPart]) -> Option<()> {
        let mut jumps = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let split = self.code.len();
            let is_last = index + 1 == parts.len();
            if !is_last {
                self.code.push(Instruction::Split(split + 1, 0));
            }
            self.add(part)?;
            if !is_last {
                jumps.push(self.code.len());
                self.code.push(Instruction::Jump(0));
                self.code[split] = Instruction::Split(split + 1, self.code.len());
            }
        }
        let end = self.code.len();
        jumps.into_iter().for_each(|at| self.code[at] = Instruction::Jump(end));
        Some(())
    }

    fn add_repeat(&mut self, part: &PatternPart, min: u32, max: Option<u32>) -> Option<()> {
        for _ in 0..min {
            self.add(part)?;
        }
        match max {
            Some(max) => {
                let mut splits = Vec::new();
                for _ in min..max {
                    splits.push(self.code.len());
                    self.code.push(Instruction::Split(self.code.len() + 1, 0));
                    self.add(part)?;
                }
                let end = self.code.len();
                splits.into_iter().for_each(|at| self.code[at] = Instruction::Split(at + 1, end));
            }
            None => {
                let split = self.code.len();
                self.code.push(Instruction::Split(split + 1, 0));
                self.add(part)?;
                self.code.push(Instruction::Jump(split));
                self.code[split] = Instruction::Split(split + 1, self.code.len());
            }
        }
        Some(())
    }

    /// Whether it matches, and the steps that this took.
    pub(super) fn matches(&self, text: &str) -> (Option<bool>, usize) {
        let text: Vec<char> = text.chars().collect();
        let mut steps = STEPS_MAX;
        let is_match = self.run(&text, 0, false, &mut steps);
        (is_match, STEPS_MAX - steps)
    }

    /// Whether it matches from a place on: exactly there, or there or later.
    fn run(&self, text: &[char], from: usize, exactly: bool, steps: &mut usize) -> Option<bool> {
        let mut states = BTreeSet::new();
        for at in from..=text.len() {
            if at == from || !exactly {
                self.enter(0, text, at, &mut states, steps)?;
            }
            if states.iter().any(|state| matches!(self.code[*state], Instruction::Match)) {
                return Some(true);
            }
            let Some(c) = text.get(at) else { break };
            let mut next = BTreeSet::new();
            for state in states {
                if let Instruction::Class(class) = &self.code[state]
                    && class.has(*c)
                {
                    self.enter(state + 1, text, at + 1, &mut next, steps)?;
                }
            }
            states = next;
        }
        Some(false)
    }

    /// Adds a state and all that follow it without a character.
    fn enter(
        &self,
        start: usize,
        text: &[char],
        at: usize,
        states: &mut BTreeSet<usize>,
        steps: &mut usize,
    ) -> Option<()> {
        let mut open = vec![start];
        while let Some(state) = open.pop() {
            *steps = steps.checked_sub(1)?;
            if !states.insert(state) {
                continue;
            }
            match &self.code[state] {
                Instruction::Split(first, second) => open.extend([*first, *second]),
                Instruction::Jump(to) => open.push(*to),
                Instruction::Start => open.extend((at == 0).then_some(state + 1)),
                Instruction::End => open.extend((at == text.len()).then_some(state + 1)),
                Instruction::WordEdge { negated } => {
                    let is_edge = is_word(text, at.checked_sub(1)) != is_word(text, Some(at));
                    open.extend((is_edge != *negated).then_some(state + 1));
                }
                Instruction::Look { program, negated } => {
                    let is_there = program.run(text, at, true, steps)?;
                    open.extend((is_there != *negated).then_some(state + 1));
                }
                Instruction::Class(_) | Instruction::Match => {}
            }
        }
        Some(())
    }
}

fn is_word(text: &[char], at: Option<usize>) -> bool {
    let class = CharClass { ranges: word_ranges(), negated: false };
    at.and_then(|at| text.get(at)).is_some_and(|c| class.has(*c))
}
