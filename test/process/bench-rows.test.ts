import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { projectFolder } from './running.ts'

test('a bench that is asked for rows that there are none of fails, and names those that there are', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(projectFolder, 'bench/run.ts'), '--only', 'cahced'],
    { encoding: 'utf8' },
  )
  assert.equal(status, 1)
  assert.equal(stdout, '')
  assert.match(stderr, /"cahced"/)
  assert.match(stderr, /^ {2}cached 20 KB list$/m)
  // Also where they would be skipped for want of a server.
  assert.match(stderr, /^ {2}cached 20 KB list, PostgreSQL \+ Redis$/m)
})
