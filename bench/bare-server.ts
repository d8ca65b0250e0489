import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

/** The reference: what Node can do at best when it sends these very bytes and thinks about nothing. */
const { port, status, headers, bodyPath } = JSON.parse(process.env.BARE ?? '{}') as {
  port: number
  status: number
  headers: string[]
  bodyPath: string
}
const bytes = readFileSync(bodyPath)

const server = createServer((_request, response) => {
  response.writeHead(status, headers)
  response.end(bytes)
})
server.listen(port, '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
