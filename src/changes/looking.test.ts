import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualTime } from '../../test/google/virtual-time.ts'
import type { SheetAtSeq } from '../sheets/reading/reading.ts'
import type { DueLook } from '../store/looks/looks.ts'
import type { SheetRecord } from '../store/sheets/sheets.ts'
import { createLooking } from './looking.ts'

test('a file that is followed here is looked at every second, and a rationed sheet only in its turn', async () => {
  const { time, world, looked } = setUp()
  world.followed = ['file 1', 'google 1']
  // What the store gives out first, to whoever asks; the file had its turn just before, at an instance that is gone.
  world.due = [due('google 1')]
  await time.pass(10_500)
  assert.equal(looked('google 1'), 1)
  assert.ok(looked('file 1') >= 9, `${looked('file 1')}`)
  world.followed = []
  await time.pass(1_000)
  const before = looked('file 1')
  await time.pass(60_000)
  assert.equal(looked('file 1'), before)
})

test('that a sheet is followed is said again before it is over', async () => {
  const { time, world } = setUp()
  world.followed = ['google 1']
  await time.pass(60_500)
  assert.ok(world.noted.length >= 10 && world.noted.length <= 13, `${world.noted.length}`)
})

test('one account has three looks at a time, and looks that take long are not begun twice', async () => {
  const { time, world, looked } = setUp()
  world.isSlow = true
  world.due = ['a', 'b', 'c', 'd', 'e'].map(due)
  await time.pass(1_500)
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e'].map((sheetId) => looked(sheetId)),
    [1, 1, 1, 0, 0],
  )
  world.due = [due('a')]
  await time.pass(1_000)
  assert.equal(looked('a'), 1)
})

test('a store that is away is asked again', async () => {
  const { time, world, looked } = setUp()
  world.isAway = true
  await time.pass(5_000)
  world.isAway = false
  world.due = [due('a')]
  await time.pass(1_500)
  assert.equal(looked('a'), 1)
})

test('those who ask for a look within a second share the next, with the latest write that one of them knows', async () => {
  const { time, looking, looks } = setUp()
  const first = looking.refresh(sheet('a', 1))
  assert.equal(await first, 'looked')
  const others = [2, 4, 3].map((writeSeq) => looking.refresh(sheet('a', writeSeq)))
  await time.pass(500)
  assert.equal(looks.length, 1)
  await time.pass(600)
  assert.deepEqual(await Promise.all(others), ['looked', 'looked', 'looked'])
  assert.deepEqual(looks, [sheet('a', 1), sheet('a', 4)])
})

function setUp() {
  const time = createVirtualTime()
  const looks: SheetAtSeq[] = []
  const world = {
    followed: [] as string[],
    due: [] as DueLook[],
    noted: [] as string[],
    isSlow: false,
    isAway: false,
  }
  const looking = createLooking({
    store: {
      async noteFollowed(sheetIds) {
        world.noted.push(...sheetIds)
      },
      async takeDueLooks() {
        if (world.isAway) throw new Error('away')
        return world.due.splice(0)
      },
      sheetById: async (id) =>
        ({ id, writeSeq: 1, paused: false, historyDays: 7, provider: id.split(' ')[0] }) as SheetRecord,
    },
    reading: {
      async look(asked) {
        looks.push(sheet(asked.id, asked.writeSeq))
        if (world.isSlow) await new Promise(() => {})
        return 'looked'
      },
    },
    following: { followed: () => world.followed },
    isRationed: (provider) => provider !== 'file',
    clock: time.clock,
    timers: time.timers,
  })
  return {
    time,
    world,
    looking,
    looks,
    looked: (id: string) => looks.filter((each) => each.id === id).length,
  }
}

function sheet(id: string, writeSeq: number): SheetAtSeq {
  return { id, writeSeq }
}

function due(sheetId: string): DueLook {
  return { sheetId, accountId: 'acc' }
}
