import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const bin = join(import.meta.dirname, 'node_modules')

export interface LintOutcome {
  errors: number
  warnings: number
  /** The first of them, for whoever has to mend it. */
  first: string
}

/** Redocly's strictest rules of its own, over all documents in one process. */
export async function lintWithRedocly(folder: string, paths: readonly string[]): Promise<LintOutcome> {
  const cli = join(bin, '@redocly', 'cli', 'bin', 'cli.js')
  const args = [cli, 'lint', ...paths, '--extends=recommended-strict', '--format=json']
  const found = JSON.parse(await outputOf(folder, args)) as {
    totals: { errors: number; warnings: number }
    problems: object[]
  }
  return { ...found.totals, first: JSON.stringify(found.problems[0] ?? '').slice(0, 500) }
}

/** Every rule of `spectral:oas`, also those that it does not recommend to everyone. */
export async function lintWithSpectral(folder: string, paths: readonly string[]): Promise<LintOutcome> {
  const cli = join(bin, '@stoplight', 'spectral-cli', 'dist', 'index.js')
  const ruleset = join(folder, 'spectral.json')
  await writeFile(ruleset, JSON.stringify({ extends: ['spectral:oas'] }))
  const args = [cli, 'lint', ...paths, `--ruleset=${ruleset}`, '--format=json', '--quiet']
  const found = JSON.parse(await outputOf(folder, args)) as { severity: number }[]
  const errors = found.filter(({ severity }) => severity === 0).length
  return { errors, warnings: found.length - errors, first: JSON.stringify(found[0] ?? '').slice(0, 500) }
}

/** Linters end with another code than 0 where they find something. */
async function outputOf(folder: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const options = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 }
  const { stdout } = await promisify(execFile)(process.execPath, args, options).catch(
    (error: { stdout?: string; stderr?: string; message: string }) => {
      if (error.stdout?.trim()) return { stdout: error.stdout }
      throw new Error(`${error.message}\n${error.stderr}`)
    },
  )
  // One of them says goodbye after its JSON.
  return /^(?:\{[\s\S]*?\n\}|\[[\s\S]*\])/m.exec(stdout)?.[0] ?? stdout
}
