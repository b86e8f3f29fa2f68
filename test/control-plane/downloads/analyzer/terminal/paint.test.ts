/** Colours, for whoever can see them and has not asked to be spared. */
import t from 'tap'
import {
  createPaint,
  wantsColour,
} from '../../../../../control-plane/downloads/analyzer/terminal/paint.ts'

const TABLE: readonly (readonly [
  wanted: boolean,
  why: string,
  environment: Record<string, string>,
  isTerminal: boolean,
  isRefused: boolean,
])[] = [
  [true, 'a terminal', { TERM: 'xterm' }, true, false],
  [true, 'a terminal without a name', {}, true, false],
  [false, 'a file', { TERM: 'xterm' }, false, false],
  [false, 'a terminal that knows none', { TERM: 'dumb' }, true, false],
  [false, 'NO_COLOR', { NO_COLOR: '1' }, true, false],
  [true, 'NO_COLOR that is empty', { NO_COLOR: '' }, true, false],
  [true, 'FORCE_COLOR into a file', { FORCE_COLOR: '1' }, false, false],
  [true, 'FORCE_COLOR that is empty', { FORCE_COLOR: '' }, false, false],
  [false, 'FORCE_COLOR=0', { FORCE_COLOR: '0' }, true, false],
  [false, 'NO_COLOR and FORCE_COLOR', { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
  [false, '--no-color and FORCE_COLOR', { FORCE_COLOR: '3' }, true, true],
]

void t.test(
  'an option says more than the environment, and that more than the terminal',
  async (t) => {
    for (const [wanted, why, environment, isTerminal, isRefused] of TABLE)
      t.equal(wantsColour({ environment, isTerminal, isRefused }), wanted, why)
  },
)

void t.test('a colour ends with its line', async (t) => {
  t.equal(createPaint(true)('red', 'a\nb'), '\u001b[31ma\u001b[39m\n\u001b[31mb\u001b[39m')
  t.equal(createPaint(false)('red', 'a\nb'), 'a\nb')
})
