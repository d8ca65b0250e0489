import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { clientAddress, trustProxies } from './client-address.ts'

test('without a named proxy the header is not looked at', () => {
  for (const said of ['192.0.2.1', '::1', '127.0.0.1', 'garbage', '']) {
    assert.equal(asked('198.51.100.7', said, []), '198.51.100.7')
  }
  assert.equal(asked('::ffff:198.51.100.7', undefined, []), '198.51.100.7', 'without its IPv6 clothes')
  assert.equal(asked('2001:db8::7', undefined, []), '2001:db8::7')
})

test('whoever is not a named proxy speaks for nobody', () => {
  assert.equal(asked('198.51.100.7', '192.0.2.1', ['10.0.0.1']), '198.51.100.7')
  assert.equal(
    asked('10.0.0.2', '192.0.2.1', ['10.0.0.1']),
    '10.0.0.2',
    'the neighbour of a proxy is no proxy',
  )
  assert.equal(asked('2001:db8::7', '192.0.2.1', ['::1']), '2001:db8::7')
})

test('a named proxy says who asked; what the client wrote itself stands further left and is not believed', () => {
  const proxy = ['10.0.0.1']
  assert.equal(asked('10.0.0.1', '192.0.2.1', proxy), '192.0.2.1')
  assert.equal(asked('::ffff:10.0.0.1', '192.0.2.1', proxy), '192.0.2.1')
  assert.equal(asked('10.0.0.1', '127.0.0.1, 192.0.2.1', proxy), '192.0.2.1')
  assert.equal(
    asked('10.0.0.1', '10.0.0.1, 192.0.2.1', proxy),
    '192.0.2.1',
    'not even with the name of a proxy',
  )
  assert.equal(asked('10.0.0.1', '198.51.100.1,garbage,,192.0.2.1', proxy), '192.0.2.1')
  assert.equal(asked('10.0.0.1', ' \t192.0.2.1 ', proxy), '192.0.2.1')
  assert.equal(asked('10.0.0.1', '::ffff:192.0.2.1', proxy), '192.0.2.1')
  assert.equal(asked('10.0.0.1', '2001:db8::1', proxy), '2001:db8::1')
})

test('a chain of proxies is followed from its end for as long as each is named', () => {
  const proxies = ['10.0.0.0/8', '2001:db8:ffff::/48', '::1']
  assert.equal(asked('10.0.0.1', '192.0.2.1, 10.2.2.2, 10.3.3.3', proxies), '192.0.2.1')
  assert.equal(asked('::1', '192.0.2.1, 2001:db8:ffff::5, 10.3.3.3', proxies), '192.0.2.1')
  assert.equal(asked('10.0.0.1', '192.0.2.1, 203.0.113.9, 10.3.3.3', proxies), '203.0.113.9')
  assert.equal(asked('10.0.0.1', '192.0.2.1, 2001:db8:fffe::5', proxies), '2001:db8:fffe::5')
  assert.equal(asked('10.0.0.1', '10.1.1.1, 10.2.2.2', proxies), '10.1.1.1', 'a proxy itself can ask')
  assert.equal(asked('10.0.0.1', '192.0.2.1, ::ffff:10.2.2.2', proxies), '192.0.2.1')
  assert.equal(asked('10.0.0.1', '192.0.2.1, ::FFFF:a02:202', proxies), '192.0.2.1', 'in any spelling')
})

test('what is no address ends the chain at the last that is known', () => {
  const proxies = ['10.0.0.0/8']
  const garbage = [
    '',
    ',',
    'unknown',
    '_hidden',
    'localhost',
    '192.0.2',
    '192.0.2.256',
    '192.0.2.1.1',
    '192.0.2.1:',
    '192.0.2.1:port',
    '192.0.2.1/32',
    '1',
    '[]',
    '[2001:db8::1',
    '2001:db8::1]',
    '[2001:db8::1]443',
    '2001:db8::g',
    'for=192.0.2.1',
    '"192.0.2.1"',
    'x'.repeat(8_000),
  ]
  for (const entry of garbage) {
    assert.equal(asked('10.0.0.1', entry, proxies), '10.0.0.1', entry)
    assert.equal(asked('10.0.0.1', `192.0.2.9, ${entry}, 10.2.2.2`, proxies), '10.2.2.2', entry)
  }
  assert.equal(asked('10.0.0.1', undefined, proxies), '10.0.0.1')
  assert.equal(asked(undefined, '192.0.2.1', proxies), '', 'a connection that is gone already')
})

test('a port beside the address, and the brackets that IPv6 needs for it, are left out', () => {
  const proxies = ['10.0.0.0/8', '2001:db8:ffff::/48']
  assert.equal(asked('10.0.0.1', '192.0.2.1:4711', proxies), '192.0.2.1')
  assert.equal(asked('10.0.0.1', '[2001:db8::1]:4711', proxies), '2001:db8::1')
  assert.equal(asked('10.0.0.1', '[2001:db8::1]', proxies), '2001:db8::1')
  assert.equal(asked('10.0.0.1', '[::ffff:192.0.2.1]:80', proxies), '192.0.2.1')
  assert.equal(asked('10.0.0.1', '192.0.2.1:1, [2001:db8:ffff::5]:2, 10.3.3.3:3', proxies), '192.0.2.1')
  assert.equal(asked('10.0.0.1', '127.0.0.1, 192.0.2.1:4711', proxies), '192.0.2.1')
})

test('several header lines are one list, in their order', () => {
  const trusted = trustProxies(['10.0.0.1'])
  const request = requestFrom('10.0.0.1')
  request.headers['x-forwarded-for'] = ['192.0.2.1', '192.0.2.2'] as unknown as string
  assert.equal(clientAddress(request, trusted), '192.0.2.2')
})

function asked(
  remoteAddress: string | undefined,
  forwardedFor: string | undefined,
  proxies: string[],
): string {
  const request = requestFrom(remoteAddress)
  if (forwardedFor !== undefined) request.headers['x-forwarded-for'] = forwardedFor
  return clientAddress(request, trustProxies(proxies))
}

function requestFrom(remoteAddress: string | undefined): IncomingMessage {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress })
  return new IncomingMessage(socket)
}
