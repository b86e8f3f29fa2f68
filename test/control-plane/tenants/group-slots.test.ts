/** Bits of tokens: whose they are, and from which version of the table on. */
import t from 'tap'
import { groupBits, nextSlots } from '../../../control-plane/tenants/group-slots.ts'
import { LIMITS } from '../../../shared/limits.ts'

const KEPT = { keptMs: 1000, slotsMax: 4 }
const EMPTY = { slots: [], version: 0 }
const wanting = (...groups: string[]) => new Set(groups)
const slotOf = (table: ReturnType<typeof nextSlots>, group: string) =>
  table?.slots.find((one) => one.group === group)

t.test(
  'a group keeps its bit while rules speak of it, and the version goes up for new ones',
  async (t) => {
    const first = nextSlots(EMPTY, wanting('a', 'b'), { nowMs: 0, ...KEPT })!
    t.match(first, {
      version: 1,
      slots: [
        { slot: 0, since: 1 },
        { slot: 1, since: 1 },
      ],
    })
    const same = nextSlots(first, wanting('b', 'a'), { nowMs: 5, ...KEPT })!
    t.strictSame(same, first)
    const more = nextSlots(first, wanting('a', 'b', 'c'), { nowMs: 5, ...KEPT })!
    t.match(more, { version: 2 })
    t.match(slotOf(more, 'c'), { slot: 2, since: 2 })
    t.match(slotOf(more, 'a'), { slot: 0, since: 1 }, 'older tokens say right what they say of it')
  },
)

t.test('a bit is given to another group only when no token from before lives', async (t) => {
  const first = nextSlots(EMPTY, wanting('a'), { nowMs: 0, ...KEPT })!
  const without = nextSlots(first, wanting(), { nowMs: 10, ...KEPT })!
  t.match(slotOf(without, 'a'), { freeFrom: 1010 })
  const early = nextSlots(without, wanting('b'), { nowMs: 1010 - 1, ...KEPT })!
  t.match(slotOf(early, 'b'), { slot: 1 })
  const again = nextSlots(without, wanting(), { nowMs: 500, ...KEPT })!
  t.match(slotOf(again, 'a'), { freeFrom: 1010 }, 'it does not become free later and later')
  const late = nextSlots(without, wanting('b'), { nowMs: 1010, ...KEPT })!
  t.match(slotOf(late, 'b'), { slot: 0, since: 2 })
  t.equal(slotOf(late, 'a'), undefined)
})

t.test('a group that comes back is unknown to tokens that were made without it', async (t) => {
  const first = nextSlots(EMPTY, wanting('a'), { nowMs: 0, ...KEPT })!
  const without = nextSlots(first, wanting(), { nowMs: 10, ...KEPT })!
  const back = nextSlots(without, wanting('a'), { nowMs: 20, ...KEPT })!
  t.match(slotOf(back, 'a'), { slot: 0, since: 2, freeFrom: null })
  t.equal(back.version, 2)
})

t.test('more groups than bits are refused, those that are not free yet among them', async (t) => {
  const full = nextSlots(EMPTY, wanting('a', 'b', 'c', 'd'), { nowMs: 0, ...KEPT })!
  t.equal(nextSlots(full, wanting('a', 'b', 'c', 'd', 'e'), { nowMs: 1, ...KEPT }), undefined)
  const fewer = nextSlots(full, wanting('a'), { nowMs: 1, ...KEPT })!
  t.equal(nextSlots(fewer, wanting('a', 'e'), { nowMs: 2, ...KEPT }), undefined)
  t.ok(nextSlots(fewer, wanting('a', 'e'), { nowMs: 1001, ...KEPT }))
})

t.test('the bits of a person are those of their groups, whole bytes, and small', async (t) => {
  const groups = Array.from({ length: 1024 }, (_, at) => `group-${at}`)
  const limits = { nowMs: 0, keptMs: 1, slotsMax: LIMITS.ruleSlotsMax }
  const { slots } = nextSlots(EMPTY, new Set(groups), limits)!
  const bits = Buffer.from(groupBits(slots, new Set(['group-0', 'group-1023'])), 'base64url')
  t.equal(bits.length, 128)
  t.equal(bits[0], 1)
  t.equal(bits[127], 0x80)
  t.ok(groupBits(slots, new Set(groups)).length <= 252)
  t.equal(groupBits([], new Set(['a'])), '')
  const freed = slots.map((one) => ({ ...one, freeFrom: 5 }))
  t.match(groupBits(freed, new Set(groups)), /^A+$/, 'of none that no rule speaks of')
})
