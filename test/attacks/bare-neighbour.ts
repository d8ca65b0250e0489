// Answers everybody at once with nothing to do: what it takes to be heard by it is what this machine takes.
import { createServer } from 'node:http'

const body = JSON.stringify(
  Array.from({ length: 300 }, (_, n) => ({ name: `Item ${n}`, stock: n, price: n })),
)
const server = createServer((_asked, answer) => {
  answer.setHeader('Content-Type', 'application/json')
  answer.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? address?.port : 0)
})
process.once('disconnect', () => process.exit())
