import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { isSurelyDead, newInstanceId } from './instance-id.ts'

test('only a process of this machine that is gone is surely dead', () => {
  const own = newInstanceId()
  const elsewhere = (pid: number) => own.replace(/\.\w+\.\d+$/, `.0123456789abcdef.${pid}`)
  const here = (pid: number) => own.replace(/^\w+/, 'in_other').replace(/\d+$/, String(pid))
  const { pid: gone } = spawnSync(process.execPath, ['-e', ''])
  assert.equal(isSurelyDead(own, own), false)
  assert.equal(isSurelyDead(here(gone), own), true)
  assert.equal(isSurelyDead(here(process.ppid), own), false)
  assert.equal(isSurelyDead(here(process.pid), own), true, 'its number is ours now')
  assert.equal(isSurelyDead(elsewhere(gone), own), false)
  assert.equal(isSurelyDead('in_older-make', own), false)
})
