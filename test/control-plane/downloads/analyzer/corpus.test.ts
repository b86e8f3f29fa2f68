/**
 * Every Node project of the corpus, with its real framework: after apply it starts, refuses who brings
 * no signature, lets in who does, and answers probes; after undo it is as it was. Those on Next.js are in
 * corpus-next.test.ts.
 */
// long: starts every Node project of the corpus
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { carrying, claimsOf } from '../../../shared/snippets/cases.ts'
import { installSdk } from '../../../support/installed-sdk.ts'
import { isNext, nodeFixtures, tellStory } from './corpus.ts'

const sdk = join((await installSdk(t)).folder, 'node_modules', 'service-node')

/** They are integrated already, by the service's package. */
const INTEGRATED: ReadonlySet<string> = new Set(['express-integrated'])

for (const fixture of nodeFixtures()) {
  const boots = fixture.boots.filter((note) => !isNext(note))
  if (boots.length === 0) continue
  t.test(fixture.name, async (t) => {
    await tellStory(t, fixture, { sdk }, async (story) => {
      for (const { edits } of story.plans) {
        const code = edits.filter(({ path }) => !/package\.json$|\.pem$/.test(path))
        if (!INTEGRATED.has(fixture.name)) t.equal(code.length, 1, 'the code is edited')
      }
      for (const note of boots)
        await t.test(`${note.command.join(' ')} on ${note.port}`, async (t) => {
          const booted = await story.start(t, note)
          const problems = await story.smoke(booted, note)
          t.same(problems, [], problems.length > 0 ? booted.output() : 'it keeps its promises')
          if (fixture.name === 'express-websockets')
            await guardsWebSockets(t, booted.origin, carrying(claimsOf(story.by)))
        })
    })
  })
}

async function guardsWebSockets(
  t: Test,
  origin: string,
  [name = '', token = '']: readonly string[],
) {
  const open = (headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const socket = new WebSocket(`${origin.replace('http', 'ws')}/live`, { headers })
      socket.once('open', () => resolve(101))
      socket.once('open', () => socket.terminate())
      socket.once('unexpected-response', (_, answer) => resolve(answer.statusCode ?? 0))
      socket.once('error', reject)
    })
  t.equal(await open({}), 401, 'a WebSocket without a signature is refused')
  t.equal(await open({ [name]: token }), 101, 'and with one accepted')
}
