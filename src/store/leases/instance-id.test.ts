import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { isSurelyDead, newInstanceId } from './instance-id.ts'

test('only a process of this machine that is gone is surely dead', () => {
  const own = newInstanceId()
  const elsewhere = (pid: number) => own.replace(/\.\w+\.\d+$/, `.0123456789abcdef.${pid}`)
  const here = (pid: number) => own.replace(/^\w+/, 'in_other').replace(/\d+$/, String(pid))
  const { pid: gone } = spawnSync(process.execPath, ['-e', ''])
  assert.equal(isSurelyDead(own), false)
  assert.equal(isSurelyDead(here(gone)), true)
  assert.equal(isSurelyDead(here(process.ppid)), false)
  assert.equal(isSurelyDead(here(process.pid)), true, 'its number is ours now')
  assert.equal(isSurelyDead(elsewhere(gone)), false)
  assert.equal(isSurelyDead('in_older-make'), false)
})
