import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { type Interaction, replay } from './recording-replay.ts'

const folder = resolve(import.meta.dirname, '../../../shared/google-recordings')
const skip = existsSync(folder) ? false : `no recordings at ${folder}`

/** Interactions that are known not to match, by recording and request, each with its reason. */
const EXCEPTIONS: Record<string, string> = {}

test('the emulator answers recorded traffic as Google did, in at least 98 of 100 calls', {
  skip,
}, (context) => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  let total = 0
  let missed = 0
  for (const name of files) {
    const interactions: Interaction[] = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    total += interactions.length
    for (const { interaction, status, at } of replay(interactions)) {
      missed += 1
      const call = `${name}: ${interaction.method} ${interaction.url.split('?')[0]}`
      const reason = EXCEPTIONS[call] ?? 'NOT EXPLAINED'
      context.diagnostic(`${call} ${interaction.status} → ${status}: ${at} (${reason})`)
    }
  }
  context.diagnostic(`matched ${total - missed} of ${total} recorded calls in ${files.length} files`)
  assert.ok(total > 0, 'there are recordings')
  assert.ok((total - missed) / total >= 0.98)
})
