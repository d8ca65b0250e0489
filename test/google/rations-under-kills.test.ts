import assert from 'node:assert/strict'
import { test } from 'node:test'
import { patienceMs, times } from '../soak.ts'
import { longestAbsenceMs, type PlayedRations, playRations, type RationsWish } from './rations-under-kills.ts'

const histories = times(4, 400)
/** A closure of four seconds, and then the 2.5 s for which one that was killed is believed to be next. */
const promisedMs = 4_000 + 2_500
/** The call that was refused has to come back before anything is closed. */
const answeredMs = 500
/** The store is away, and then who was told so asks again. */
const absenceMs = longestAbsenceMs + 1_000

/** Places are plenty: whoever waits does so because of a refusal, or of somebody's death. */
const calm = { ...rations(300, 900), clients: 1, pauseMs: 1_500, minutes: 3 }
const busy = { ...rations(20, 50), clients: 4, pauseMs: 1_000, minutes: 4 }

for (const refused of ['user', 'project'] as const) {
  const whose = refused === 'user' ? "an owner's ration" : "the project's ration"

  test(`servers are killed in mid-call and Google refuses ${whose}: whoever is left goes on within seconds`, {
    timeout: patienceMs,
  }, async (t) => {
    const played = await playAll({ ...calm, refused }, ({ longestSilenceMs, absences }) => {
      const allowedMs = promisedMs + answeredMs + (absences > 0 ? absenceMs : 0)
      return longestSilenceMs <= allowedMs ? null : `${Math.round(longestSilenceMs)} ms without a call`
    })
    t.diagnostic(figures(played))
    assert.ok(sum(played, 'killsInTrial') > 0 && sum(played, 'frozen') > 0, 'trials were hit as well')
  })

  test(`the same at full demand: no minute at Google has more than a ration (${refused})`, {
    timeout: patienceMs,
  }, async (t) => {
    const { perUser, perProject } = busy.limits
    const played = await playAll({ ...busy, refused }, ({ busiest: { owner, project } }) =>
      owner <= perUser.read && project <= perProject.read ? null : `${owner} and ${project} in a minute`,
    )
    t.diagnostic(figures(played))
    assert.equal(Math.max(...played.map(({ busiest }) => busiest.project)), perProject.read, 'it was used up')
  })
}

async function playAll(
  wish: RationsWish,
  wrong: (played: PlayedRations) => string | null,
): Promise<PlayedRations[]> {
  const all: PlayedRations[] = []
  for (let seed = 1; seed <= histories; seed++) {
    const played = await playRations(seed, wish)
    const found = wrong(played)
    assert.equal(found, null, `seed ${seed}: ${found}`)
    all.push(played)
  }
  return all
}

function figures(played: readonly PlayedRations[]): string {
  const longestMs = Math.max(...played.map(({ longestSilenceMs }) => longestSilenceMs))
  const counted = (['calls', 'refusals', 'kills', 'killsInTrial', 'frozen', 'absences'] as const).map(
    (name) => `${sum(played, name)} ${name}`,
  )
  return `${played.length} histories, ${counted.join(', ')}; longest silence ${Math.round(longestMs)} ms`
}

function sum(
  played: readonly PlayedRations[],
  name: 'calls' | 'refusals' | 'kills' | 'killsInTrial' | 'frozen' | 'absences',
) {
  return played.reduce((total, one) => total + one[name], 0)
}

function rations(perUser: number, perProject: number) {
  const both = (each: number) => ({ read: each, write: each })
  return { limits: { perUser: both(perUser), perProject: both(perProject) } }
}
