import t from 'tap'
import { judgeApart } from '../../../control-plane/analysis/judge-answer.ts'
import { placeEdit } from '../../../shared/integration/place-edit.ts'
import { LIMITS } from '../../../shared/limits.ts'

const URLS = { baseUrl: 'http://localhost:8080', sdkUrl: 'http://localhost:8080/api/v1/sdk/node' }

function factsAbout(text: string) {
  const replace = "import express from 'express'\nimport { verifyClaims } from 'service-node'"
  const answer = JSON.stringify({
    framework: 'express',
    summary: 'An Express application.',
    edits: [
      {
        path: 'server.mjs',
        action: 'modify',
        find: "import express from 'express'",
        replace,
        content: '',
        why: 'The guard.',
      },
    ],
    notes: [],
    warnings: [],
  })
  const files = new Map([['server.mjs', `import express from 'express'\n${text}`]])
  const project = { files, manifest: null, characters: text.length, masked: 0 }
  return { answer, project, mode: 'gateway' as const, ...URLS }
}

/** Words that a slow expression would try from each place anew; and what is slow for all of them. */
const TELLING = `// ${'runIn'.repeat(30_000)}\n`
const SLOW = `// ${'a('.repeat(LIMITS.analysisFileCharactersMax / 2 - 10)}\n`

void t.test('what a model answers is judged apart from everybody else', async (t) => {
  let turns = 0
  let next = setImmediate(function turn() {
    turns++
    next = setImmediate(turn)
  })
  const judged = await judgeApart(factsAbout(SLOW))
  clearImmediate(next)
  t.equal(judged.kind, 'guide')
  t.ok(turns > 10, `others had ${turns} turns meanwhile`)
})

void t.test('what takes too long is refused with what to do', async (t) => {
  t.ok(LIMITS.judgingMsMax > 1)
  t.match(await judgeApart(factsAbout(TELLING), 1), {
    kind: 'refused',
    problems: [/fewer or shorter files/],
  })
})

void t.test('a comment takes the time that its length takes', async (t) => {
  t.match(await judgeApart(factsAbout(TELLING), 10_000), { kind: 'guide' })
})

void t.test('a long line that is not there is not compared with all others', async (t) => {
  const find = `const a = "${'abcd '.repeat(6000)}x"`
  const edit = { action: 'modify', path: 'a.js', find, replace: `${find}\nb()`, why: '' } as const
  let looked = 0
  const { replaceAll } = String.prototype
  t.teardown(() => (String.prototype.replaceAll = replaceAll))
  String.prototype.replaceAll = function (this: string, ...given: [string, string]) {
    looked += this.length
    return replaceAll.apply(this, given as never)
  } as typeof replaceAll
  const text = 'x\n'.repeat(50_000)
  t.equal(placeEdit(text, edit).kind, 'problem')
  t.ok(looked < 20 * (text.length + find.length), `${looked} characters looked at`)
})

void t.test('what is close is told', async (t) => {
  const edit = { action: 'modify', path: 'a.js', find: 'app.listen( 3000 )', why: '' } as const
  const placing = placeEdit('\napp.listen(3000);\n', {
    ...edit,
    replace: 'app.listen(3001)// more',
  })
  t.match(placing, { kind: 'problem', detail: /line 2 is close/ })
})
