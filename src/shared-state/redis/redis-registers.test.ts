import { after, before } from 'node:test'
import { findRedis, startRedis } from '../../../test/servers/redis.ts'
import { systemClock } from '../../clock.ts'
import { createRegisterValue } from '../registers/register-value.ts'
import { namesForm, sharedValueContract } from '../registers/shared-value.contract.ts'
import { connectRedis } from './redis.ts'
import { createRedisRegisters } from './redis-registers.ts'

const skip = findRedis() ? false : 'Redis is not on this machine'
let server: Awaited<ReturnType<typeof startRedis>> | null = null
let tests = 0

before(async () => {
  if (!skip) server = await startRedis()
})
after(() => server?.stop())

sharedValueContract(
  'Redis',
  async (t, names) => {
    const prefix = `test ${++tests}`
    return Promise.all(
      names.map(async (name) => {
        const redis = connectRedis(server?.url ?? '', () => {})
        await redis.settled
        const registers = createRedisRegisters(redis)
        const value = createRegisterValue({
          name: `${prefix} ${name}`,
          form: namesForm,
          registers,
          clock: systemClock,
        })
        t.after(async () => {
          value.close()
          await redis.close()
        })
        return value
      }),
    )
  },
  skip,
)
