import { DAY_MS, EPOCH_MS } from '../cells/serial-date.ts'
import { FormulaError, numberOf, type Operand, textOf } from './operand.ts'

type SheetFunction = (args: Operand[][]) => Operand

const FUNCTIONS: Record<string, SheetFunction> = {
  SUM: (args) => ({ numberValue: numbersIn(args).reduce((sum, one) => sum + one, 0) }),
  AVERAGE: (args) => {
    const numbers = numbersIn(args)
    if (numbers.length === 0) {
      throw new FormulaError(
        'DIVIDE_BY_ZERO',
        'Evaluation of function AVERAGE caused a divide by zero error.',
      )
    }
    return { numberValue: numbers.reduce((sum, one) => sum + one, 0) / numbers.length }
  },
  MIN: (args) => ({ numberValue: Math.min(...atLeastZero(numbersIn(args))) }),
  MAX: (args) => ({ numberValue: Math.max(...atLeastZero(numbersIn(args))) }),
  COUNT: (args) => ({ numberValue: numbersIn(args).length }),
  COUNTA: (args) => ({ numberValue: args.flat().filter((one) => one !== undefined).length }),
  DATE: (args) => {
    const [year, month, day] = [0, 1, 2].map((at) => Math.trunc(numberOf(first(args, at), 'DATE', at + 1)))
    // Months and days may run over: DATE(2026,14,1) is in 2027.
    return { numberValue: Math.round((Date.UTC(year ?? 0, (month ?? 1) - 1, day ?? 1) - EPOCH_MS) / DAY_MS) }
  },
  TIME: (args) => {
    const [hour = 0, minute = 0, second = 0] = [0, 1, 2].map((at) =>
      numberOf(first(args, at), 'TIME', at + 1),
    )
    return { numberValue: ((hour * 3600 + minute * 60 + second) / 86_400) % 1 }
  },
  NA: () => ({ errorValue: { type: 'N_A' } }),
  TRUE: () => ({ boolValue: true }),
  FALSE: () => ({ boolValue: false }),
  PI: () => ({ numberValue: Math.PI }),
  IF: (args) =>
    numberOf(first(args, 0), 'IF', 1) !== 0 ? first(args, 1) : (first(args, 2) ?? { boolValue: false }),
  CONCATENATE: (args) => ({ stringValue: args.flat().map(textOf).join('') }),
  CONCAT: (args) => ({ stringValue: args.flat().map(textOf).join('') }),
  HYPERLINK: (args) => first(args, 1) ?? first(args, 0),
  ROUND: (args) => {
    const scale = 10 ** numberOf(first(args, 1), 'ROUND', 2)
    return { numberValue: Math.round(numberOf(first(args, 0), 'ROUND', 1) * scale) / scale }
  },
  UPPER: (args) => ({ stringValue: textOf(first(args, 0)).toUpperCase() }),
  LOWER: (args) => ({ stringValue: textOf(first(args, 0)).toLowerCase() }),
  LEN: (args) => ({ numberValue: textOf(first(args, 0)).length }),
}

export function callFunction(name: string, args: Operand[][]): Operand {
  const known = FUNCTIONS[name]
  if (!known) throw new FormulaError('NAME', `Unknown function: '${name}'.`)
  return known(args)
}

function first(args: Operand[][], index: number): Operand {
  return args[index]?.[0]
}

function atLeastZero(numbers: number[]): number[] {
  return numbers.length > 0 ? numbers : [0]
}

function numbersIn(args: Operand[][]): number[] {
  return args.flat().flatMap((value) => {
    if (value && 'errorValue' in value)
      throw new FormulaError(value.errorValue.type, value.errorValue.message)
    return value && 'numberValue' in value ? [value.numberValue] : []
  })
}
