import { loadJob } from './thread-jobs.ts'
import type { ThreadTurn } from './thread-pool.ts'

/** For one who is alone and waits: nobody takes turns, and what others do in a thread is done on this one. */
export const noTurn: ThreadTurn = {
  async begin() {},
  async run(job, input) {
    const { reply } = await (await loadJob(job))(input, () => {})
    return { reply, rest: null }
  },
  end() {},
}
