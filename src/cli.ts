import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type DestinationStream, destination } from 'pino'
import packageJson from '../package.json' with { type: 'json' }
import { openWorkshop } from './assemble/open-workshop.ts'
import { type Clock, systemClock } from './clock.ts'
import {
  type BareCommand,
  type Command,
  type CommandOutcome,
  fileArgument,
  serveCommand,
  UsageError,
  usageOf,
} from './commands/command.ts'
import { type Config, parseConfig } from './config.ts'
import { findFilesToServe } from './first-start/served-files.ts'
import { serve } from './main.ts'
import { Problem } from './management/problem.ts'
import { inPlainWords } from './plain-words.ts'
import { createLog } from './reporting/log.ts'

/** Where a command was typed: its settings, and where it answers. */
export interface Terminal {
  env: NodeJS.ProcessEnv
  stdout: { write(text: string): unknown }
  stderr: DestinationStream
  clock?: Clock
}

/**
 * The operator's commands, on the same store as a running server: what they change holds at once. Resolves with the
 * exit code; stdout is for what was asked, stderr for why it could not be had.
 */
export async function cli(args: readonly string[], terminal: Terminal): Promise<number> {
  const [first] = args
  if (first === 'version' || first === '--version' || first === '-v')
    return answer(`${packageJson.version}\n`)
  if (first === 'serve')
    return args.some(isHelp) ? answer(usageOf([serveCommand])) : serveTyped(args.slice(1))
  // A server has no use for them, and would compile them at each first start (docs/decisions/041).
  const { commands, usage } = await import('./commands/all-commands.ts')
  if (first === undefined) return fail(usage)
  if (first === 'help' || isHelp(first)) return answer(usage)
  const command = commands.find(({ words }) => words.every((word, at) => args[at] === word))
  if (!command) return args.some(isHelp) ? answer(usage) : fail(`rowport: ${unknownCommand(args, commands)}`)
  if (args.some(isHelp)) return answer(usageOf([command]))
  try {
    const given = args.slice(command.words.length)
    if ('runBare' in command) return await runBare(command, given)
    return printOutcome(await run(command, given, terminal))
  } catch (error) {
    if (error instanceof UsageError) return fail(`rowport: ${error.message}\n\n${usageOf([command])}`)
    throw error
  }

  async function serveTyped(given: readonly string[]): Promise<number> {
    try {
      const { values, positionals } = parse(given, {
        data: { type: 'string' },
        'service-account': { type: 'string' },
        'google-api-key': { type: 'string' },
        port: { type: 'string' },
      })
      const links = positionals.filter((word) => /^https?:\/\//i.test(word))
      const keyFile = values['service-account'] as string | undefined
      const googleApiKey = values['google-api-key'] as string | undefined
      if (links.length === 0 && (keyFile ?? googleApiKey) !== undefined)
        throw new UsageError('Name the spreadsheet by its link.')
      const typedFiles = positionals.filter((word) => !links.includes(word))
      const files = findFilesToServe(typedFiles, callersFolder(terminal))
      if (files instanceof Problem) return fail(`rowport: ${files.message}\n`)
      const data = values.data as string | undefined
      return await serve({
        files,
        links: { links, keyFile: keyFile === undefined ? null : resolve(callersFolder(terminal), keyFile) },
        googleApiKey,
        port: values.port as string | undefined,
        dataFolder: data && resolve(callersFolder(terminal), data),
      })
    } catch (error) {
      if (error instanceof UsageError) return fail(`rowport: ${error.message}\n\n${usageOf([serveCommand])}`)
      throw error
    }
  }

  /** What it found is what was asked for, also where it is bad. */
  async function runBare(bare: BareCommand, given: readonly string[]): Promise<number> {
    const { words, options, isJson } = parseCommandArgs(bare, given)
    if (options.check !== undefined) options.check = resolve(callersFolder(terminal), options.check)
    const outcome = await bare.runBare(terminal.env, words, options)
    return printOutcome(outcome instanceof Problem ? outcome : { ...outcome, isJson })
  }

  function printOutcome(outcome: ShownOutcome | Problem): number {
    if (outcome instanceof Problem) return fail(`rowport: ${outcome.message}\n`)
    const { json, text, isJson, hasFailed = false } = outcome
    answer(isJson ? `${JSON.stringify(json)}\n` : `${text}\n`)
    return hasFailed ? 1 : 0
  }

  function answer(text: string): number {
    terminal.stdout.write(text)
    return 0
  }

  function fail(text: string): number {
    terminal.stderr.write(text)
    return 1
  }
}

type ShownOutcome = CommandOutcome & { isJson: boolean }

async function run(
  command: Command,
  args: readonly string[],
  terminal: Terminal,
): Promise<ShownOutcome | Problem> {
  const { words: typed, options, isJson } = parseCommandArgs(command, args)
  const words = typed.map((word, at) =>
    command.positionals[at] === fileArgument ? resolve(callersFolder(terminal), word) : word,
  )
  if (options.file !== undefined) options.file = resolve(callersFolder(terminal), options.file)
  const config = parseConfig(terminal.env, true)
  if ('problems' in config) return new Problem(`these settings are wrong:\n  ${config.problems.join('\n  ')}`)
  const outcome = await onTheStore(config, terminal, command, words, options)
  return outcome instanceof Problem ? outcome : { ...outcome, isJson }
}

const cloneFolder = join(import.meta.dirname, '..')

/**
 * npm changes to the clone's folder before it runs us; a relative path is meant from where the person is. Anywhere else the
 * variable is of another package's script, which knows where it runs.
 */
function callersFolder({ env }: Terminal): string {
  const here = process.cwd()
  return here === cloneFolder ? (env.INIT_CWD ?? here) : here
}

async function onTheStore(
  config: Config,
  { stderr, clock = systemClock }: Terminal,
  command: Command,
  words: readonly string[],
  options: Record<string, string | undefined>,
): Promise<CommandOutcome | Problem> {
  try {
    const isNewStore = config.store.kind === 'sqlite' && !existsSync(config.store.path)
    // Nothing is there that another command could find, and a folder that it makes would only be in the way. What is no folder that
    // can be used is told by whoever opens it.
    const isEmptyPlace = isNewStore && isFolderOrNothing(config.dataFolder)
    if (isEmptyPlace && command.words.join(' ') !== 'account create') return noStore(config.dataFolder)
    const workshop = await openWorkshop(config, clock, createLog('warn', stderr))
    if (isNewStore) stderr.write(newStoreMade(config.dataFolder))
    try {
      const { noteCommand } = await import('./commands/audited-commands.ts')
      const noteDone = await noteCommand(workshop, command, words, options)
      const outcome = await command.run(workshop, words, options)
      if (!(outcome instanceof Problem)) await noteDone()
      return outcome
    } finally {
      await workshop.close()
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    return new Problem(inPlainWords(error, config))
  }
}

function isFolderOrNothing(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined || found.isDirectory()
}

function noStore(dataFolder: string): Problem {
  const begin = 'Start "rowport serve" or "rowport account create" to make one.'
  return new Problem(`there is no store in ${dataFolder}. Is ROWPORT_DATA set as for the server? ${begin}`)
}

/** Whoever forgot a setting would otherwise go on in a store that no server looks at. */
function newStoreMade(dataFolder: string): string {
  return `rowport: there was no store in ${dataFolder}, so a new one was made. Is ROWPORT_DATA set as for the server?\n`
}

function parseCommandArgs(command: Command | BareCommand, args: readonly string[]) {
  const asked: Record<string, { type: 'string' | 'boolean' }> = Object.fromEntries([
    ...command.options.map((name) => [name, { type: 'string' }]),
    ...(command.flags ?? []).map((name) => [name, { type: 'boolean' }]),
  ])
  const { values, positionals } = parse(args, { ...asked, json: { type: 'boolean' as const } })
  const missing = command.positionals[positionals.length]
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`)
  const extra = positionals[command.positionals.length]
  if (extra !== undefined) {
    throw new UsageError(`Unexpected argument "${extra}". Quote values that contain spaces.`)
  }
  const { json, ...given } = values
  const options = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]))
  return { words: positionals, options, isJson: json === true }
}

function parse(args: readonly string[], options: Record<string, { type: 'string' | 'boolean' }>) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(whatIsWrong(error as NodeJS.ErrnoException))
  }
}

/** Node's words for it explain more than was asked. */
function whatIsWrong({ code, message }: NodeJS.ErrnoException): string {
  const option = /'(-[^' ]*)/.exec(message)?.[1]
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `There is no option ${option} here.`
  return /does not take/.test(message) ? `${option} takes no value.` : `${option} needs a value.`
}

/** Short, where nothing is known of what was meant: the list of all commands would push the sentence off the screen. */
function unknownCommand(
  args: readonly string[],
  commands: readonly Pick<Command, 'words' | 'usage'>[],
): string {
  const [first = ''] = args
  const alike = commands.filter(({ words }) => words[0] === first)
  if (alike.length > 0) return `there is no command "${args.slice(0, 2).join(' ')}"\n\n${usageOf(alike)}`
  const isToBeServed = existsSync(first) || /^https?:\/\//i.test(first)
  const meant = isToBeServed ? ` To serve it: rowport serve ${first}` : ''
  return `there is no command "${first}".${meant}\nAll commands: rowport help\n`
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

/** What was typed, in the terminal it was typed in. */
export async function runTyped(): Promise<void> {
  // What it makes is for its own user, whatever the umask of whoever starts it.
  process.umask(0o077)
  const { stdout } = process
  const stderr = destination({ dest: 2, sync: true })
  process.exitCode = await cli(process.argv.slice(2), { env: process.env, stdout, stderr })
}

if (import.meta.main) await runTyped()
