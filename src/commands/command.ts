import type { Workshop } from '../assemble/workshop.ts'
import type { Problem } from '../management/problem.ts'

/** Among `positionals`: where a file of this machine is, from the folder in which it was typed. */
export const fileArgument = '<file>'

interface TypedCommand {
  words: readonly string[]
  usage: string
  /** What the words after the command's own stand for. */
  positionals: readonly string[]
  options: readonly string[]
  /** Options without a value; they are 'true' where they are given. */
  flags?: readonly string[]
}

/** One that opens no store: it looks at what keeps the others from working, or asks a server as any client does. */
export interface BareCommand extends TypedCommand {
  runBare(
    env: NodeJS.ProcessEnv,
    words: readonly string[],
    options: Options,
  ): Promise<CommandOutcome | Problem>
}

/** One of the operator's commands (docs/contract.md#commands). */
export interface Command extends TypedCommand {
  run(workshop: Workshop, words: readonly string[], options: Options): Promise<CommandOutcome | Problem>
}

export type Options = Record<string, string | undefined>

export interface CommandOutcome {
  json: unknown
  text: string
  /** What was asked for was done, and what it found is bad: it is shown, and the exit code tells. */
  hasFailed?: boolean
}

export const serveCommand = {
  usage: [
    'serve [<files or a folder>] [--data <folder>] [--port <n>]',
    '  rowport serve <link of a spreadsheet> --service-account <key.json> | --google-api-key <key>',
  ].join('\n'),
}

/** The command was typed wrong; what is wrong, for the person who typed it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function usageOf(some: readonly Pick<Command, 'usage'>[]): string {
  return `Usage:\n${usageLines(some)}`
}

export function usageLines(some: readonly Pick<Command, 'usage'>[]): string {
  return some.map((command) => `  rowport ${command.usage}\n`).join('')
}

export function oneOf<T extends string>(option: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value)
  if (found === undefined) throw new UsageError(`--${option} is ${allowed.join(' or ')}, not "${value}".`)
  return found
}

export function positiveNumber(option: string, options: Options): number | null {
  const text = options[option]
  if (text === undefined) return null
  if (!/^[1-9][0-9]{0,8}$/.test(text))
    throw new UsageError(`--${option} must be a whole number from 1 to 999999999.`)
  return Number(text)
}

export function table(columns: readonly string[], rows: readonly string[][], ifEmpty: string): string {
  if (rows.length === 0) return ifEmpty
  const lines = [columns, ...rows]
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n')
}
