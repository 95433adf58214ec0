//! Expressions: operations on a stack. Only operators whose failure depends on the types of their operands alone are
//! read, so that whether one fails never depends on which facts the engine happens to try first.

use super::{Defect, Symbols, push_operation, term, term::Term};
use crate::{
    format::biscuit::wire::{Field, Fields},
    limits::{MAX_CLOSURE_DEPTH, MAX_MEMBERS},
};

/// An expression that leaves exactly one value.
#[derive(Debug)]
pub(in crate::format::biscuit) struct Expression<'a> {
    pub(in crate::format::biscuit) operations: Vec<Operation<'a>>,
}

/// One operation.
#[derive(Debug)]
pub(in crate::format::biscuit) enum Operation<'a> {
    /// Pushes a value.
    Value(Term<'a>),
    /// Replaces the last value: negation, parentheses, length.
    Unary,
    /// Replaces the last two values by one.
    Binary(Binary),
    /// Pushes a closure, which only a lazy operator takes.
    Closure(Closure<'a>),
}

/// An operator on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format::biscuit) enum Binary {
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
    /// Equality, membership, set operations, `and`/`or` on both values.
    Strict,
    /// The same, first in version 4: `!==`.
    StrictV4,
    /// The same, first in version 6: `==` and `!=` between any types.
    StrictV6,
    /// `&&`, `||`: a value and a closure without parameters.
    Lazy,
    /// `all`, `any`: a collection and a closure with one parameter.
    Each,
}

/// Operations evaluated later, or not at all.
#[derive(Debug)]
pub(in crate::format::biscuit) struct Closure<'a> {
    pub(in crate::format::biscuit) parameters: Vec<u32>,
    pub(in crate::format::biscuit) body: Expression<'a>,
}

/// Reads an expression.
pub(super) fn read<'a>(fields: Fields<'a>, symbols: &Symbols<'a>) -> Result<Expression<'a>, Defect> {
    operations(fields, 1, symbols, 0)
}

/// The operations in the repeated field `number`.
fn operations<'a>(
    mut fields: Fields<'a>,
    number: u64,
    symbols: &Symbols<'a>,
    depth: usize,
) -> Result<Expression<'a>, Defect> {
    let mut operations = Vec::new();
    while let Some(field) = fields.next()? {
        if field.number != number {
            return Err(field.unknown());
        }
        push_operation(&mut operations, operation(field.message()?, symbols, depth)?)?;
    }
    Expression::checked(operations)
}

fn operation<'a>(
    mut fields: Fields<'a>,
    symbols: &Symbols<'a>,
    depth: usize,
) -> Result<Operation<'a>, Defect> {
    let field = fields.next()?.ok_or(Defect::Missing { what: "an operation's content" })?;
    let operation = match field.number {
        1 => Operation::Value(term::read(field.message()?, symbols)?),
        2 => unary(code(&field, "extern::")?)?,
        3 => Operation::Binary(binary(code(&field, "extern::")?)?),
        4 => Operation::Closure(closure(field.message()?, symbols, depth + 1)?),
        _ => return Err(field.unknown()),
    };
    match fields.next()? {
        None => Ok(operation),
        Some(_) => Err(Defect::Encoding),
    }
}

/// The operator's number; the name of an external function makes it one that is not accepted.
fn code(field: &Field<'_>, external: &'static str) -> Result<u64, Defect> {
    let mut fields = field.message()?;
    let mut kind = None;
    while let Some(field) = fields.next()? {
        match field.number {
            1 => kind = Some(field.single()?.u64()?),
            2 => return Err(Defect::Operator { name: external }),
            _ => return Err(field.unknown()),
        }
    }
    kind.ok_or(Defect::Missing { what: "an operator" })
}

fn unary<'a>(code: u64) -> Result<Operation<'a>, Defect> {
    match code {
        0..=2 => Ok(Operation::Unary),
        3 => Err(Defect::Operator { name: "type" }),
        4 => Err(Defect::Operator { name: "extern::" }),
        value => Err(Defect::UnknownValue { what: "a unary operator", value }),
    }
}

fn binary(code: u64) -> Result<Binary, Defect> {
    let refused = |name| Err(Defect::Operator { name });
    match code {
        0 => Ok(Binary::Less),
        1 => Ok(Binary::Greater),
        2 => Ok(Binary::LessOrEqual),
        3 => Ok(Binary::GreaterOrEqual),
        4..=7 | 13..=16 => Ok(Binary::Strict),
        8 => refused("matches"),
        9..=12 => refused("arithmetic"),
        17..=19 => refused("bitwise"),
        20 => Ok(Binary::StrictV4),
        21 | 22 => Ok(Binary::StrictV6),
        23 | 24 => Ok(Binary::Lazy),
        25 | 26 => Ok(Binary::Each),
        27 => refused("get"),
        28 => refused("extern::"),
        29 => refused("try_or"),
        value => Err(Defect::UnknownValue { what: "a binary operator", value }),
    }
}

fn closure<'a>(fields: Fields<'a>, symbols: &Symbols<'a>, depth: usize) -> Result<Closure<'a>, Defect> {
    if depth > MAX_CLOSURE_DEPTH {
        return Err(Defect::TooDeep { limit: MAX_CLOSURE_DEPTH });
    }
    let mut fields = fields;
    let mut parameters = Vec::new();
    let mut body = Vec::new();
    while let Some(field) = fields.next()? {
        match field.number {
            1 if parameters.is_empty() => parameters.push(term::variable(&field, symbols)?),
            1 => return Err(Defect::TooMany { what: "parameters of a closure", limit: 1 }),
            2 => push_operation(&mut body, operation(field.message()?, symbols, depth)?)?,
            _ => return Err(field.unknown()),
        }
    }
    Ok(Closure { parameters, body: Expression::checked(body)? })
}

impl<'a> Expression<'a> {
    /// Plays the operations on a stack of marks: `None` is a value, a number the parameters of a closure.
    fn checked(operations: Vec<Operation<'a>>) -> Result<Expression<'a>, Defect> {
        let mut stack: Vec<Option<usize>> = Vec::new();
        for operation in &operations {
            match operation {
                Operation::Value(_) => stack.push(None),
                Operation::Closure(closure) => stack.push(Some(closure.parameters.len())),
                Operation::Unary => match stack.last() {
                    Some(None) => {}
                    _ => return Err(Defect::Expression),
                },
                Operation::Binary(binary) => {
                    let wanted = match binary {
                        Binary::Lazy => Some(0),
                        Binary::Each => Some(1),
                        _ => None,
                    };
                    let (right, left) = (stack.pop(), stack.pop());
                    if left != Some(None) || right != Some(wanted) {
                        return Err(Defect::Expression);
                    }
                    stack.push(None);
                }
            }
        }
        if stack == [None] { Ok(Expression { operations }) } else { Err(Defect::Expression) }
    }

    /// Whether it has a lazy operator.
    pub(in crate::format::biscuit) fn is_lazy(&self) -> bool {
        self.operations.iter().any(|operation| matches!(operation, Operation::Closure(_)))
    }

    /// Calls `seen` with each variable that it uses and does not bind itself.
    pub(in crate::format::biscuit) fn free_variables(
        &self,
        bound: &mut Vec<u32>,
        seen: &mut impl FnMut(u32),
    ) {
        for operation in &self.operations {
            match operation {
                Operation::Value(Term::Variable(variable)) if !bound.contains(variable) => seen(*variable),
                Operation::Closure(closure) => {
                    let before = bound.len();
                    bound.extend(&closure.parameters);
                    closure.body.free_variables(bound, seen);
                    bound.truncate(before);
                }
                _ => {}
            }
        }
    }

    /// At most how many steps one evaluation takes.
    pub(in crate::format::biscuit) fn weight(&self) -> usize {
        let each =
            self.operations.iter().any(|operation| matches!(operation, Operation::Binary(Binary::Each)));
        let rounds = if each { MAX_MEMBERS } else { 1 };
        self.operations.iter().fold(0, |sum: usize, operation| {
            sum.saturating_add(match operation {
                Operation::Value(term) => term.weight(),
                Operation::Closure(closure) => closure.body.weight().saturating_mul(rounds),
                Operation::Unary | Operation::Binary(_) => 1,
            })
        })
    }

    pub(super) fn version(&self) -> u32 {
        let of = |operation: &Operation<'_>| match operation {
            Operation::Closure(_) | Operation::Binary(Binary::StrictV6 | Binary::Lazy | Binary::Each) => 6,
            Operation::Binary(Binary::StrictV4) => 4,
            _ => 3,
        };
        self.operations.iter().map(of).max().unwrap_or(3)
    }
}
