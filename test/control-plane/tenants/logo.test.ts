/** How many pixels a picture says it has, without unpacking it. */
import t from 'tap'
import { logoPixels } from '../../../control-plane/tenants/logo.ts'

const RIFF = `52494646${'00000000'}57454250`

t.test('each kind of picture says its size, and what is cut off says none', async (t) => {
  for (const [kind, head, width, height] of [
    ['PNG', `89504e470d0a1a0a0000000d49484452${'0000012c'}${'00000064'}`, 300, 100],
    [
      'JPEG behind other segments',
      `ffd8${'ffe00004beef'}${'ffc40004beef'}ffc2001108${'0064012c'}`,
      300,
      100,
    ],
    [
      'WebP, extended',
      `${RIFF}${'56503858'}${'0a000000'}${'00000000'}${'2b0100'}${'630000'}`,
      300,
      100,
    ],
    [
      'WebP, lossy',
      `${RIFF}${'56503820'}${'00000000'}${'000000'}${'9d012a'}${'2c01'}${'6400'}`,
      300,
      100,
    ],
    ['WebP, lossless', `${RIFF}${'5650384c'}${'00000000'}2f${'2bc11800'}`, 300, 100],
  ] as const) {
    t.same(logoPixels(Buffer.from(head, 'hex')), { width, height }, kind)
    t.equal(logoPixels(Buffer.from(head, 'hex').subarray(0, -1)), undefined, `${kind}, cut off`)
  }
  t.equal(logoPixels(Buffer.from('474946383961', 'hex')), undefined)
})
