import { callFunction } from './formula-functions.ts'
import { type Token, tokensOf } from './formula-tokens.ts'
import { FormulaError, numberOf, type Operand, raise, textOf } from './operand.ts'

/** All cells of a reference, row by row; undefined where it points nowhere. */
export type Lookup = (reference: string) => Operand[] | undefined

/** Arithmetic, text, comparison and a handful of functions: what tests of a client need, no more. */
export function evaluate(formula: string, lookup: Lookup): Operand {
  if (formula.includes('#REF!')) return { errorValue: { type: 'REF', message: 'Reference does not exist.' } }
  const tokens = tokensOf(formula.slice(1))
  if (!tokens) return { errorValue: { type: 'ERROR', message: 'Formula parse error.' } }
  const parser = new Parser(tokens, lookup)
  try {
    return parser.whole()
  } catch (error) {
    if (error instanceof FormulaError) return { errorValue: error.value }
    throw error
  }
}

const LEVELS = [['=', '<>', '<', '>', '<=', '>='], ['&'], ['+', '-'], ['*', '/'], ['^']]

class Parser {
  readonly #tokens: Token[]
  readonly #lookup: Lookup
  #at = 0

  constructor(tokens: Token[], lookup: Lookup) {
    this.#tokens = tokens
    this.#lookup = lookup
  }

  whole(): Operand {
    const value = this.#binary(0)
    if (this.#at < this.#tokens.length) throw new FormulaError('ERROR', 'Formula parse error.')
    return value
  }

  #binary(level: number): Operand {
    const signs = LEVELS[level]
    if (!signs) return this.#unary()
    let left = this.#binary(level + 1)
    for (;;) {
      const sign = signs.find((candidate) => this.#isSign(candidate))
      if (!sign) return left
      this.#at += 1
      left = combine(sign, left, this.#binary(level + 1))
    }
  }

  #unary(): Operand {
    if (this.#takeSign('-')) return { numberValue: -numberOf(this.#unary(), 'UMINUS', 1) }
    if (this.#takeSign('+')) return this.#unary()
    let value = this.#single()
    while (this.#takeSign('%')) value = { numberValue: numberOf(value, 'UNARY_PERCENT', 1) / 100 }
    return value
  }

  #single(): Operand {
    const token = this.#tokens[this.#at]
    this.#at += 1
    if (token?.kind === 'number') return { numberValue: token.value }
    if (token?.kind === 'text') return { stringValue: token.value }
    if (token?.kind === 'reference') return this.#cells(token.value)[0]
    if (token?.kind === 'name') return this.#named(token.value)
    if (token?.value === '(') {
      const value = this.#binary(0)
      if (this.#takeSign(')')) return value
    }
    throw new FormulaError('ERROR', 'Formula parse error.')
  }

  #named(name: string): Operand {
    if (!this.#takeSign('(')) {
      if (/^(true|false)$/i.test(name)) return { boolValue: name.toLowerCase() === 'true' }
      throw new FormulaError('NAME', `Unknown range name: '${name.toUpperCase()}'.`)
    }
    const args: Operand[][] = []
    while (!this.#takeSign(')')) {
      if (args.length > 0 && !this.#takeSign(',') && !this.#takeSign(';')) {
        throw new FormulaError('ERROR', 'Formula parse error.')
      }
      args.push(this.#argument())
    }
    return callFunction(name.toUpperCase(), args)
  }

  #argument(): Operand[] {
    const token = this.#tokens[this.#at]
    const next = this.#tokens[this.#at + 1]
    if (token?.kind === 'reference' && next?.kind === 'sign' && [',', ';', ')'].includes(next.value)) {
      this.#at += 1
      return this.#cells(token.value)
    }
    return [this.#binary(0)]
  }

  #cells(reference: string): Operand[] {
    const cells = this.#lookup(reference)
    if (!cells) throw new FormulaError('REF', 'Unresolved sheet name.')
    return cells
  }

  #isSign(sign: string): boolean {
    const token = this.#tokens[this.#at]
    return token?.kind === 'sign' && token.value === sign
  }

  #takeSign(sign: string): boolean {
    if (!this.#isSign(sign)) return false
    this.#at += 1
    return true
  }
}

function combine(sign: string, left: Operand, right: Operand): Operand {
  if (sign === '&') return { stringValue: textOf(left) + textOf(right) }
  if (['=', '<>', '<', '>', '<=', '>='].includes(sign)) return { boolValue: compare(sign, left, right) }
  const names: Record<string, string> = {
    '+': 'ADD',
    '-': 'MINUS',
    '*': 'MULTIPLY',
    '/': 'DIVIDE',
    '^': 'POW',
  }
  const name = names[sign] ?? sign
  const a = numberOf(left, name, 1)
  const b = numberOf(right, name, 2)
  if (sign === '/' && b === 0) {
    throw new FormulaError('DIVIDE_BY_ZERO', 'Function DIVIDE parameter 2 cannot be zero.')
  }
  const results: Record<string, number> = { '+': a + b, '-': a - b, '*': a * b, '/': a / b, '^': a ** b }
  return { numberValue: results[sign] ?? 0 }
}

function compare(sign: string, left: Operand, right: Operand): boolean {
  const a = comparable(left)
  const b = comparable(right)
  const order = typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a < typeof b ? -1 : 1
  const verdicts: Record<string, boolean> = {
    '=': order === 0,
    '<>': order !== 0,
    '<': order < 0,
    '>': order > 0,
    '<=': order <= 0,
    '>=': order >= 0,
  }
  return verdicts[sign] ?? false
}

function comparable(value: Operand): number | string {
  raise(value)
  if (value && 'numberValue' in value) return value.numberValue
  if (value && 'boolValue' in value) return value.boolValue ? 1 : 0
  return textOf(value).toLowerCase()
}
