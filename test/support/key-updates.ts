/**
 * A client of TLS 1.3 that changes its key as often as it likes: the cheapest thing there is to send
 * for what it costs, and no library lets one.
 */
import { createCipheriv, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'

/** `update_not_requested`, as a handshake message within a record. */
const KEY_UPDATE = Buffer.from([24, 0, 0, 1, 0, 22])
export const KEY_UPDATE_BYTES = 27

export interface KeyUpdater {
  readonly socket: Socket
  /** However it ends. */
  readonly closed: Promise<unknown>
  /** So many records, sealed one behind the other as they have to be; each longer by so many zeros. */
  updates(count: number, padding?: number): Buffer
}

const keyUpdater = (socket: Socket, secret: Buffer): KeyUpdater => ({
  socket,
  closed: new Promise((resolve) => socket.once('close', resolve)),
  updates(count, padding = 0) {
    const recordBytes = KEY_UPDATE_BYTES + padding
    const records = Buffer.alloc(count * recordBytes)
    const text = Buffer.concat([KEY_UPDATE, Buffer.alloc(padding)])
    const head = Buffer.from([23, 3, 3, 0, 0])
    head.writeUInt16BE(recordBytes - 5, 3)
    for (let at = 0; at < records.length; at += recordBytes) {
      const key = expand(secret, 'key', 16)
      // the first of its key: the number that goes into the nonce is zero
      const cipher = createCipheriv('aes-128-gcm', key, expand(secret, 'iv', 12))
      cipher.setAAD(head)
      const sealed = [head, cipher.update(text), cipher.final(), cipher.getAuthTag()]
      Buffer.concat(sealed).copy(records, at)
      secret = expand(secret, 'traffic upd', 32)
    }
    return records
  },
})

export async function connectKeyUpdater(
  port: number,
  servername: string,
  localAddress = '127.0.0.1',
  ALPNProtocols = ['http/1.1'],
): Promise<KeyUpdater> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  const carrier = new Duplex({
    read() {},
    write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
  })
  socket.on('data', (chunk) => carrier.push(chunk))
  socket.on('close', () => carrier.push(null))
  const secure = connectTls({
    ...{ socket: carrier, servername, ALPNProtocols, rejectUnauthorized: false },
    ...{ minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' },
  })
  secure.on('error', () => {})
  let secret = ''
  secure.on('keylog', (line: Buffer) => {
    const [label, , value = ''] = line.toString().trim().split(' ')
    if (label === 'CLIENT_TRAFFIC_SECRET_0') secret = value
  })
  await once(secure, 'secureConnect')
  return keyUpdater(socket, Buffer.from(secret, 'hex'))
}

/** HKDF-Expand-Label of RFC 8446, 7.1, with SHA-256 and no context. */
function expand(secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`)
  const info = Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])])
  return createHmac('sha256', secret).update(info).digest().subarray(0, length)
}
