/** Public applications whose answers were written by hand, and how much of them was found right before. */
import type { Expected } from './expected.ts'
import { EIGHTH_HELD_OUT } from './once-held-out/eighth.ts'
import { ELEVENTH_HELD_OUT } from './once-held-out/eleventh.ts'
import { FIFTH_HELD_OUT } from './once-held-out/fifth.ts'
import { FIRST_HELD_OUT } from './once-held-out/first.ts'
import { FOURTH_HELD_OUT } from './once-held-out/fourth.ts'
import { NINTH_HELD_OUT } from './once-held-out/ninth.ts'
import { SECOND_HELD_OUT } from './once-held-out/second.ts'
import { SEVENTH_HELD_OUT } from './once-held-out/seventh.ts'
import { SIXTH_HELD_OUT } from './once-held-out/sixth.ts'
import { TENTH_HELD_OUT } from './once-held-out/tenth.ts'
import { THIRD_HELD_OUT } from './once-held-out/third.ts'
import { THIRTEENTH_HELD_OUT } from './once-held-out/thirteenth.ts'
import { TWELFTH_HELD_OUT } from './once-held-out/twelfth.ts'
import { TUNED } from './tuned.ts'
import type { Score } from './score.ts'

export const SETS: readonly (readonly [string, readonly Expected[], Omit<Score, 'shown'>])[] = [
  [
    'developed with',
    TUNED,
    {
      ...{ framework: 19, mount: 19, entry: 19, port: 19, health: 19, everything: 19 },
      ...{ edit: 19, written: 14 },
    },
  ],
  [
    'held out first',
    FIRST_HELD_OUT,
    {
      ...{ framework: 18, mount: 17, entry: 18, port: 18, health: 18, everything: 17 },
      ...{ edit: 18, written: 12 },
    },
  ],
  [
    'held out second',
    SECOND_HELD_OUT,
    {
      ...{ framework: 24, mount: 23, entry: 24, port: 22, health: 25, everything: 22 },
      ...{ edit: 24, written: 20 },
    },
  ],
  [
    'held out third',
    THIRD_HELD_OUT,
    {
      ...{ framework: 12, mount: 12, entry: 12, port: 12, health: 12, everything: 12 },
      ...{ edit: 12, written: 8 },
    },
  ],
  [
    'held out fourth',
    FOURTH_HELD_OUT,
    {
      ...{ framework: 25, mount: 25, entry: 25, port: 25, health: 24, everything: 24 },
      ...{ edit: 25, written: 19 },
    },
  ],
  [
    'held out fifth',
    FIFTH_HELD_OUT,
    {
      ...{ framework: 21, mount: 21, entry: 21, port: 18, health: 21, everything: 18 },
      ...{ edit: 21, written: 12 },
    },
  ],
  [
    'held out sixth',
    SIXTH_HELD_OUT,
    {
      ...{ framework: 20, mount: 19, entry: 20, port: 20, health: 20, everything: 19 },
      ...{ edit: 20, written: 12 },
    },
  ],
  [
    'held out seventh',
    SEVENTH_HELD_OUT,
    {
      ...{ framework: 17, mount: 17, entry: 17, port: 17, health: 17, everything: 17 },
      ...{ edit: 17, written: 12 },
    },
  ],
  [
    'held out eighth',
    EIGHTH_HELD_OUT,
    {
      ...{ framework: 28, mount: 28, entry: 28, port: 28, health: 28, everything: 28 },
      ...{ edit: 28, written: 17 },
    },
  ],
  [
    'held out ninth',
    NINTH_HELD_OUT,
    {
      ...{ framework: 30, mount: 30, entry: 30, port: 29, health: 29, everything: 29 },
      ...{ edit: 30, written: 19 },
    },
  ],
  [
    'held out tenth',
    TENTH_HELD_OUT,
    {
      ...{ framework: 17, mount: 17, entry: 17, port: 17, health: 17, everything: 17 },
      ...{ edit: 17, written: 9 },
    },
  ],
  [
    'held out eleventh',
    ELEVENTH_HELD_OUT,
    {
      ...{ framework: 21, mount: 20, entry: 21, port: 22, health: 22, everything: 20 },
      ...{ edit: 22, written: 8 },
    },
  ],
  [
    'held out twelfth',
    TWELFTH_HELD_OUT,
    {
      ...{ framework: 19, mount: 18, entry: 18, port: 19, health: 18, everything: 17 },
      ...{ edit: 19, written: 9 },
    },
  ],
  [
    'held out thirteenth',
    THIRTEENTH_HELD_OUT,
    {
      ...{ framework: 14, mount: 13, entry: 13, port: 13, health: 14, everything: 12 },
      ...{ edit: 14, written: 10 },
    },
  ],
]
