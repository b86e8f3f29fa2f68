/** What `npm run faults` would find: each way of losing something, and nothing where all is well. */
import t from 'tap'
import { findings, type History } from '../../bench/faults/history.ts'

const WELL: History = {
  changes: [
    { kind: 'rename', key: 'one', outcome: 'acknowledged' },
    { kind: 'rename', key: 'two', outcome: 'lost' },
    { kind: 'rename', key: 'three', outcome: 'lost' },
    { kind: 'user', key: 'ada', outcome: 'acknowledged' },
    { kind: 'user', key: 'bob', outcome: 'refused' },
    { kind: 'revocation', key: 's1', outcome: 'acknowledged' },
  ],
  signedIn: ['s1', 's2'],
  kept: {
    audit: { rename: ['one', 'two'], user: ['ada'], revocation: ['s1'] },
    users: ['ada'],
    sessions: ['s1', 's2', 's3'],
    revoked: ['s1'],
    events: ['s1'],
    name: 'two',
    revision: 7,
  },
  revisionBefore: 5,
  told: [
    { epoch: 'e', revision: 6, name: 'one' },
    { epoch: 'e', revision: 6, name: 'one' },
    { epoch: 'e', revision: 7, name: 'two' },
  ],
  letIn: [],
  shutOut: [],
  arrivals: [
    { id: 'd1', sid: 's1' },
    { id: 'd1', sid: 's1' },
  ],
}

const { kept } = WELL

t.strictSame(findings(WELL), [], 'nothing is found where nothing is lost')

const told = (...all: readonly [string, number, string][]) => ({
  told: all.map(([epoch, revision, name]) => ({ epoch, revision, name })),
})
const audit = (changed: Partial<typeof kept.audit>) => ({
  kept: { ...kept, audit: { ...kept.audit, ...changed } },
})

const LOSSES: readonly (readonly [string, Partial<History>, readonly string[]])[] = [
  [
    'an acknowledged change that is gone',
    { kept: { ...kept, users: [] } },
    ['user ada (acknowledged) is 0 times in users'],
  ],
  [
    'one that was made twice',
    audit({ user: ['ada', 'ada'] }),
    ['user ada (acknowledged) is 2 times in audit'],
  ],
  [
    'one that was refused, and is there',
    { kept: { ...kept, users: ['ada', 'bob'] } },
    ['user bob (refused) is 1 times in users'],
  ],
  [
    'half of a change whose answer was lost',
    {
      changes: [
        ...WELL.changes.filter(({ kind }) => kind !== 'revocation'),
        { kind: 'revocation', key: 's1', outcome: 'lost' },
      ],
      kept: { ...kept, events: [] },
      arrivals: [],
    },
    ['revocation s1 (lost) is 0 times in outbox'],
  ],
  [
    'what nobody asked for',
    { kept: { ...kept, users: ['ada', 'eve'] } },
    ['user eve is in users, and nobody asked for it'],
  ],
  [
    'a session that somebody has and nobody knows',
    { signedIn: ['s9'] },
    ['session s9 is not in the database'],
  ],
  ['a gap', { revisionBefore: 4 }, ['3 revisions were taken for 2 changes']],
  [
    'a later change that an earlier one undid',
    audit({ rename: ['two', 'one'] }),
    [
      'the database has the name two, and the last change made it one',
      'a gateway was told two behind one',
    ],
  ],
  [
    'a gateway that was told an older state',
    told(['e', 7, 'two'], ['e', 6, 'one'], ['e', 7, 'two']),
    ['a gateway was told revision 6 behind 7', 'a gateway was told one behind two'],
  ],
  [
    'one revision for two states',
    told(['e', 7, 'one'], ['e', 7, 'two']),
    ['revision 7 was one first, and then two'],
  ],
  [
    'an epoch that nothing was lost for',
    told(['e', 6, 'one'], ['f', 7, 'two']),
    ['another epoch began behind revision 6, and nothing was lost'],
  ],
  [
    'a gateway that never hears of the last change',
    told(['e', 6, 'one']),
    ['the last that a gateway was told is one (6)'],
  ],
  [
    'a revoked session that comes in',
    { letIn: [{ sid: 's1', gateway: 'gateway-0' }] },
    ['gateway-0 let in session s1 after its revocation'],
  ],
  ['one that does not', { shutOut: ['s2'] }, ['session s2 was refused, and nobody had revoked it']],
  ['an event that never arrives', { arrivals: [] }, ['the revocation of s1 was not delivered']],
  [
    'one that arrives as two, and one that never was',
    {
      arrivals: [
        { id: 'd1', sid: 's1' },
        { id: 'd2', sid: 's1' },
        { id: 'd3', sid: 's2' },
      ],
    },
    [
      'the revocation of s1 was delivered under 2 IDs',
      'the revocation of s2 was delivered, and never committed',
    ],
  ],
]

for (const [what, change, wanted] of LOSSES)
  t.test(`it finds ${what}`, async (t) => {
    t.strictSame(findings({ ...WELL, ...change }), wanted)
  })
