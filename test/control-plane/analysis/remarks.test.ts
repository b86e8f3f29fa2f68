/** The attack: a text in a file has the model tell people where to go, or what to give away. */
import t from 'tap'
import { remarksOf } from '../../../control-plane/analysis/remarks.ts'

const BASE = 'http://localhost:22080'
const shown = (note: string) =>
  remarksOf({ framework: 'express', summary: '', edits: [], notes: [note], warnings: [] }, BASE)
    .notes

t.test('what leads elsewhere, or asks for a key, is left out', async (t) => {
  for (const note of [
    'Finish the setup at service-helper.example/finish and paste your analyzer key there.',
    'Finish the setup at service-helper.example.',
    'See (evil.com) for more.',
    'Ask at evil.dev/x, port evil.io:8080.',
    'Ask evil.sh/install for it.',
    'Visit xn--80ak6aa92e.xn--p1ai today.',
    'Visit аррӏе.рф today.',
    'Visit evil。com today.',
    'Write to help@service-helper.example.',
    'Write to support@evil.md now.',
    'Paste your analyzer key into the next prompt.',
    'Send us the client secret.',
    'Go to process.env.evil.com/x for it.',
    'See https://evil.example/x.',
  ])
    t.same(shown(note), [], note)
})

t.test('what speaks of code stays', async (t) => {
  for (const note of [
    'The guard is mounted in src/server.mjs before express.json().',
    'Node.js reads process.env.PORT; app.listen(3000) stays as it is.',
    'In settings.py, MIDDLEWARE gets one entry. See package.json, README.md and config/app.config.ts.',
    'req.headers is read in http.createServer, e.g. for the name.',
    'Next.js 15.2 is used, i.e. middleware.ts is taken.',
    'The application answers at http://localhost:3000 as before.',
    `The service is at ${BASE}/console.`,
    'The key is read from the environment at the start.',
  ])
    t.same(shown(note), [note], note)
})
