import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAdmission } from '../src/admission/admit.ts'
import { hashApiKey } from '../src/admission/api-key.ts'
import { createKeyUse } from '../src/admission/key-use.ts'
import { createQuota } from '../src/admission/quota.ts'
import { openWorkshop } from '../src/assemble/open-workshop.ts'
import { systemClock } from '../src/clock.ts'
import { parseConfig } from '../src/config.ts'
import { Refusal } from '../src/errors.ts'
import { createMemoryRateWindows } from '../src/shared-state/rate-windows/memory-rate-windows.ts'
import { createLoopTurns } from '../src/shares/loop-turns.ts'
import { connectSheet, listAddress, neverReached } from './processes.ts'
import type { FigureRow } from './row.ts'

const atOnce = 64
const rounds = 3_000

/** Admission without HTTP: key hashed, looked up in SQLite, judged, counted in the minute and in the month. */
export const admissionAlone: FigureRow = {
  kind: 'figure',
  name: 'admission alone',
  async measure() {
    const folder = await mkdtemp(join(tmpdir(), 'rowport-bench-'))
    const config = parseConfig({ ROWPORT_DATA: folder }, true)
    if ('problems' in config) throw new Error(config.problems.join('; '))
    const workshop = await openWorkshop(config, systemClock, () => {})
    const apiKey = await connectSheet(workshop, folder, 'a\n1\n', neverReached)
    const { store, plans } = workshop
    const quota = createQuota(store, systemClock)
    const turns = createLoopTurns(systemClock)
    const keyUse = createKeyUse({ store, clock: systemClock, turns })
    const windows = createMemoryRateWindows(systemClock)
    const publicReaders = { windows, requestsPerMinute: 1, quota }
    const { admit } = createAdmission({
      store,
      plans,
      windows,
      quota,
      keyUse,
      publicReaders,
      observe: () => {},
    })
    const admitMany = () =>
      Promise.all(
        Array.from({ length: atOnce }, () =>
          admit(
            {
              address: listAddress,
              keyHash: hashApiKey(apiKey),
              intent: 'read',
              pageRight: 'read',
              origin: null,
            },
            '127.0.0.1',
          ),
        ),
      )
    const figures: number[] = []
    for (let pass = 0; pass < 5; pass++) {
      const begunMs = performance.now()
      for (let round = 0; round < rounds / 5; round++) {
        const admitted = await admitMany()
        if (admitted.some(({ verdict }) => verdict instanceof Refusal)) throw new Error('Refused')
      }
      figures.push(((performance.now() - begunMs) * 1_000) / ((rounds / 5) * atOnce))
    }
    await quota.close()
    await keyUse.close()
    await workshop.close()
    await rm(folder, { recursive: true })
    const best = Math.min(...figures).toFixed(1)
    return {
      said: `${best} µs a request, ${atOnce} at once (passes: ${figures.map((each) => each.toFixed(1)).join(' ')})`,
      floored: [],
    }
  },
}
