/**
 * The attack: what answers under the address of a database is none, or means harm. It must not
 * take the control plane with it, nor keep anybody waiting.
 */
import { randomBytes } from 'node:crypto'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { createAddresses } from '../../../control-plane/user-directory/addresses.ts'
import { openConnection } from '../../../control-plane/user-directory/connection.ts'
import { DirectoryFault } from '../../../control-plane/user-directory/faults.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createTestAuthority } from '../../support/test-certificates.ts'
import { startDirectoryApi } from './directory-world.ts'

async function serverThat(t: Test, answer: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    answer(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const message = (type: string, body: Buffer) => {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const packet = (sequence: number, body: Buffer) => {
  const head = Buffer.alloc(4)
  head.writeUIntLE(body.length, 0, 3)
  head[3] = sequence
  return Buffer.concat([head, body])
}
const AUTH_OK = message('R', Buffer.from([0, 0, 0, 0]))
const READY = message('Z', Buffer.from('I'))
const GREETING = Buffer.concat([
  Buffer.from([10]),
  Buffer.from('8.4.0\0'),
  Buffer.from([1, 0, 0, 0]),
  Buffer.from('abcdefgh\0'),
  Buffer.from([0xff, 0xf7, 45, 2, 0, 0xff, 0xdf, 21]),
  Buffer.alloc(10),
  Buffer.from('ijklmnopqrst\0'),
  Buffer.from('mysql_native_password\0'),
])
const MYSQL_OK = Buffer.from([0, 0, 0, 2, 0, 0, 0])

const SERVERS: Record<string, (socket: Socket) => void> = {
  'says nothing': () => {},
  'ends at once': (socket) => void socket.end(),
  'resets at once': (socket) => void socket.resetAndDestroy(),
  'speaks HTTP': (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  'speaks noise': (socket) => void socket.write(randomBytes(4096)),
  'answers everything with noise': (socket) =>
    void socket.on('data', () => socket.write(randomBytes(512))),
  'announces two gigabytes': (socket) =>
    void socket.on('data', () => socket.write(Buffer.from([0x52, 0x7f, 0xff, 0xff, 0xff, 0, 0]))),
  'has messages shorter than they are': (socket) =>
    void socket.on('data', () => socket.write(Buffer.from([0x52, 0, 0, 0, 4, 0x54, 0, 0, 0, 1]))),
  'lets Postgres in and sends rows that nobody asked for': (socket) =>
    void socket.on('data', () =>
      socket.write(Buffer.concat([AUTH_OK, READY, message('D', Buffer.from([0, 1])), READY])),
    ),
  'lets Postgres in and sends a broken row description': (socket) =>
    void socket.once('data', () => {
      socket.write(Buffer.concat([AUTH_OK, READY]))
      socket.on('data', () => socket.write(message('T', Buffer.from([0xff, 0xff, 1, 2, 3]))))
    }),
  'asks Postgres for a copy': (socket) =>
    void socket.once('data', () => {
      socket.write(Buffer.concat([AUTH_OK, READY]))
      socket.on('data', () => socket.write(message('G', Buffer.from([0, 0, 0]))))
    }),
  'greets as MySQL and sends noise': (socket) => {
    socket.write(packet(0, GREETING))
    socket.on('data', () => socket.write(randomBytes(512)))
  },
  'greets as MySQL and asks for a file of ours': (socket) => {
    socket.write(packet(0, GREETING))
    socket.once('data', () => {
      socket.write(packet(2, MYSQL_OK))
      socket.on('data', () => socket.write(packet(1, Buffer.from('\u00fb/etc/passwd', 'latin1'))))
    })
  },
  'greets as MySQL and asks for the password in the clear': (socket) => {
    socket.write(packet(0, GREETING))
    socket.on('data', (bytes) => {
      if (String(bytes).includes('the secret of this test')) received.push(String(bytes))
      socket.write(packet(2, Buffer.from('\u00femysql_clear_password\0', 'latin1')))
    })
  },
}
const received: string[] = []

t.test('whatever answers there, the operator is told and we go on', async (t) => {
  const api = await startDirectoryApi(t)
  await api.tenant('acme')
  const tries = Object.entries(SERVERS).flatMap(([name, answer]) =>
    (['postgres', 'mysql'] as const).map(async (kind) => {
      const port = await serverThat(t, answer)
      const result = await api.put('acme', {
        kind,
        host: '127.0.0.1',
        port,
        database: 'app',
        username: 'reader',
        password: 'the secret of this test',
        tls: 'off',
        query: 'SELECT * FROM people WHERE email = $1 OR ? = 1',
        columns: { id: 'a', username: 'b', email: 'c', name: 'd', password_hash: 'e' },
      })
      return { name: `${kind} that ${name}`, result }
    }),
  )
  for (const { name, result } of await Promise.all(tries)) {
    t.match(result, { status: 409, body: { error: 'directory_refused' } }, name)
    t.notMatch(JSON.stringify(result.body), 'the secret of this test')
  }
  t.same(received, [], 'and no password leaves in the clear for the asking')
})

t.test('nor does it help to have a certificate', async (t) => {
  const api = await startDirectoryApi(t)
  await api.tenant('acme')
  const authority = createTestAuthority(t)
  const { certificate_pem: cert, private_key_pem: key } = authority.issue('localhost')
  const port = await serverThat(t, (socket) => {
    socket.once('data', () => {
      socket.write('S')
      const secure = new TLSSocket(socket, { isServer: true, cert, key })
      secure.on('error', () => {})
      secure.on('data', () => secure.write(message('R', Buffer.from([1, 2, 3, 4]))))
    })
  })
  const result = await api.put('acme', {
    kind: 'postgres',
    host: 'localhost',
    port,
    database: 'app',
    username: 'reader',
    password: 'the secret of this test',
    tls: 'verify',
    ca_pem: authority.caPem,
    query: 'SELECT * FROM people WHERE email = $1',
    columns: { id: 'a', username: 'b', email: 'c', name: 'd', password_hash: 'e' },
  })
  t.match(result, { status: 409, body: { error: 'directory_refused', field: 'port' } })
})

const TARGET = {
  host: 'db.test',
  database: 'app',
  username: 'reader',
  password: 'the secret of this test',
  tls: 'off',
  caPem: null,
  query: 'SELECT * FROM people WHERE email = $1 OR ? = 1',
  columns: { id: 'a', username: 'b', email: 'c', name: 'd', password_hash: 'e' },
} as const

/** One column: name, table, its place, type, length, modifier, format. */
const COLUMNS = Buffer.from(
  ['0001', '6100', '00000000', '0000', '00000019', 'ffff', 'ffffffff', '0000'].join(''),
  'hex',
)

const faultOf = async (opening: Promise<unknown>) => {
  try {
    await opening
    return 'none'
  } catch (error) {
    return error instanceof DirectoryFault ? error.kind : String(error)
  }
}

/** The attack: one row of gigabytes, or rows without end; a driver keeps them all. */
for (const [name, row] of [
  ['one row', Buffer.concat([Buffer.from('D'), Buffer.from([0x59, 0x68, 0x2f, 0])])],
  [
    'rows without end',
    message('D', Buffer.concat([Buffer.from([0, 1, 0, 0, 4, 0]), Buffer.alloc(1024, 97)])),
  ],
] as const)
  t.test(`an answer that is too long is read no further: ${name}`, async (t) => {
    let sentBytes = 0
    const columns = message('T', COLUMNS)
    const port = await serverThat(t, (socket) => {
      socket.once('data', () => {
        socket.write(Buffer.concat([AUTH_OK, READY]))
        socket.once('data', () => {
          socket.write(Buffer.concat([message('C', Buffer.from('BEGIN\0')), READY]))
          socket.once('data', () => {
            socket.write(
              Buffer.concat([
                message('1', Buffer.alloc(0)),
                message('2', Buffer.alloc(0)),
                columns,
              ]),
            )
            const chunk = Buffer.concat(
              Array.from({ length: 64 }, () => (name === 'one row' ? Buffer.alloc(1024, 97) : row)),
            )
            if (name === 'one row') socket.write(row)
            const pump = () => {
              while (socket.writable && sentBytes < 256 * 1024 * 1024) {
                sentBytes += chunk.length
                if (!socket.write(chunk)) return void socket.once('drain', pump)
              }
            }
            pump()
          })
        })
      })
    })
    const addresses = createAddresses(['127.0.0.0/8'])
    const target = { ...TARGET, kind: 'postgres' as const, host: '127.0.0.1', port }
    const connection = await openConnection(target, addresses)
    t.equal(await faultOf(connection.find('ada')), 'answer_too_large')
    t.notOk(connection.isAlive)
    t.ok(sentBytes < 32 * LIMITS.directoryAnswerBytesMax, 'the rest stays with the sender')
  })

/** The attack: padding that does not end its text. Looked for from each space, it is a quarter of an hour. */
t.test('a padded column full of spaces holds up nobody', async (t) => {
  const text = Buffer.from(`${' '.repeat(1_000_000)}x${' '.repeat(9)}`)
  const isPadded = Buffer.from(COLUMNS)
  isPadded.writeInt32BE(1042, 10) // character(n)
  const length = Buffer.alloc(6)
  length.writeInt16BE(1)
  length.writeInt32BE(text.length, 2)
  const row = message('D', Buffer.concat([length, text]))
  const answer = [
    ...[message('1', Buffer.alloc(0)), message('2', Buffer.alloc(0)), message('T', isPadded)],
    ...[row, message('C', Buffer.from('SELECT 1\0')), READY],
  ]
  const port = await serverThat(t, (socket) => {
    socket.once('data', () => {
      socket.write(Buffer.concat([AUTH_OK, READY]))
      socket.once('data', () => {
        socket.write(Buffer.concat([message('C', Buffer.from('BEGIN\0')), READY]))
        socket.once('data', () => {
          socket.write(Buffer.concat(answer))
          socket.on('data', () =>
            socket.write(Buffer.concat([message('C', Buffer.from('ROLLBACK\0')), READY])),
          )
        })
      })
    })
  })
  const addresses = createAddresses(['127.0.0.0/8'])
  const target = { ...TARGET, kind: 'postgres' as const, host: '127.0.0.1', port }
  const connection = await openConnection(target, addresses)
  const [[found] = []] = await connection.find('ada')
  t.equal(found, text.toString().trimEnd())
  connection.close()
})

t.test('a name with a server that is down leads to the one beside it', async (t) => {
  const up = await serverThat(t, (socket) => {
    socket.once('data', () => socket.write(Buffer.concat([AUTH_OK, READY])))
  })
  const addresses = createAddresses(['127.0.0.0/8'], async () => ['127.0.0.9', '127.0.0.1'])
  const target = { ...TARGET, kind: 'postgres' as const, port: up }
  const connection = await openConnection(target, addresses)
  t.ok(connection.isAlive, 'nothing listens at 127.0.0.9')
  connection.close()
  const none = createAddresses(['127.0.0.0/8'], async () => ['127.0.0.9', '127.0.0.8'])
  t.equal(await faultOf(openConnection(target, none)), 'unreachable')
})

t.test('a name that is pointed elsewhere later is judged at the next connection', async (t) => {
  const reached: string[] = []
  const up = await serverThat(t, (socket) => {
    reached.push(socket.localAddress ?? '')
    socket.once('data', () => socket.write(Buffer.concat([AUTH_OK, READY])))
  })
  const answers = [['127.0.0.1'], ['127.0.0.1', '169.254.169.254'], ['::1']]
  const addresses = createAddresses(['127.0.0.0/8'], async () => answers.shift() ?? [])
  const target = { ...TARGET, kind: 'postgres' as const, port: up }
  const connection = await openConnection(target, addresses)
  connection.close()
  for (let next = 0; next < 2; next++)
    t.equal(await faultOf(openConnection(target, addresses)), 'address_refused')
  t.same(reached, ['127.0.0.1'], 'a name server is asked once for a connection')
})
