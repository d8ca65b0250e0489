import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMovableClock } from '../clock.ts'
import { createMemoryRateWindows } from '../shared-state/rate-windows/memory-rate-windows.ts'
import { createIpGuard } from './ip-guard.ts'

const limit = 2

test('an address waits after so many refusals, until its minute is over; a look costs nothing', async () => {
  const { guard, clock } = start()
  for (let n = 0; n < 10; n++) assert.equal((await guard.readRefusals('192.0.2.1')).isAdmitted, true)
  await guard.countRefused('192.0.2.1')
  assert.equal((await guard.readRefusals('192.0.2.1')).remaining, 1)
  await guard.countRefused('192.0.2.1')
  const refused = await guard.readRefusals('192.0.2.1')
  assert.equal(refused.isAdmitted, false)
  assert.equal((await guard.readRefusals('192.0.2.2')).isAdmitted, true, 'its neighbour need not wait')
  clock.advanceMs(refused.resetAtMs - clock.nowMs() - 1)
  assert.equal((await guard.readRefusals('192.0.2.1')).isAdmitted, false)
  clock.advanceMs(1)
  assert.equal((await guard.readRefusals('192.0.2.1')).isAdmitted, true)
})

test('an IPv6 caller is its /64, however the address is spelled', async () => {
  const same: [network: string, spellings: string[]][] = [
    [
      '2001:db8::1',
      [
        '2001:db8::',
        '2001:db8::2',
        '2001:DB8::1',
        '2001:0db8::1',
        '2001:db8:0:0::1',
        '2001:db8:0000::ffff:1',
        '2001:db8:0:0:ffff:ffff:ffff:ffff',
        '2001:0db8:0000:0000:0000:0000:0000:0001',
        '2001:db8:0:0:1::',
        '2001:db8::192.0.2.1',
        '2001:db8::1%eth0',
      ],
    ],
    ['::1', ['::', '0:0:0:0:0:0:0:1', '::2', '0::1', '::192.0.2.1', '0:0:0:0:ffff::']],
    ['1:2:3:4::', ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:192.0.2.1', '01:02:03:04::9', '1:2:3:4:5:6:7::']],
    ['::2:3:4:5:6:7:8', ['0:2:3:4::', '::2:3:4:5:6:192.0.2.1', '0:2:3:4:ffff::1']],
    ['::4:5:6:7:8', ['0:0:0:4::', '::4:5:6:192.0.2.1']],
    ['fe80::1', ['fe80::2%eth0', 'FE80:0:0:0:1:2:3:4']],
  ]
  for (const [address, spellings] of same) {
    const { guard } = start()
    for (let n = 0; n < limit; n++) await guard.countRefused(address)
    for (const spelling of spellings) {
      assert.equal(
        (await guard.readRefusals(spelling)).isAdmitted,
        false,
        `${spelling} is in the /64 of ${address}`,
      )
    }
    for (const [other] of same.filter(([network]) => network !== address)) {
      assert.equal(
        (await guard.readRefusals(other)).isAdmitted,
        true,
        `${other} is not in the /64 of ${address}`,
      )
    }
  }
})

test('the next /64 is another caller', async () => {
  const { guard } = start()
  for (let n = 0; n < limit; n++) await guard.countRefused('2001:db8::1')
  for (const other of ['2001:db8:0:1::1', '2001:db8:1::1', '2001:db9::1', '2001::db8:0:0:1', '1::2001:db8']) {
    assert.equal((await guard.readRefusals(other)).isAdmitted, true, other)
  }
})

test('an IPv4 address in IPv6 clothes is that IPv4 address, and no two of them are one caller', async () => {
  const { guard } = start()
  for (let n = 0; n < limit; n++) await guard.countRefused('192.0.2.200')
  for (const spelling of [
    '::ffff:192.0.2.200',
    '::FFFF:192.0.2.200',
    '::ffff:c000:2c8',
    '::ffff:C000:02C8',
    '0:0:0:0:0:ffff:192.0.2.200',
    '0000:0000:0000:0000:0000:ffff:c000:02c8',
  ]) {
    assert.equal((await guard.readRefusals(spelling)).isAdmitted, false, spelling)
  }
  for (const other of [
    '::ffff:192.0.2.201',
    '::ffff:c000:2c9',
    '::192.0.2.200',
    '::ffff:0:c000:2c8',
    '::1',
  ]) {
    assert.equal((await guard.readRefusals(other)).isAdmitted, true, other)
  }
})

function start() {
  const clock = createMovableClock(Date.UTC(2026, 10, 15))
  return { guard: createIpGuard(createMemoryRateWindows(clock), limit), clock }
}
