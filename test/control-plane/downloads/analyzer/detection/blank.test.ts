/** What is code and what only reads like it, in seven languages. `▒` marks what has to be blank. */
import t from 'tap'
import {
  blank,
  SOURCE_LANGUAGES,
  uncommented,
  type SourceLanguage,
} from '../../../../../control-plane/downloads/analyzer/detection/source/blank.ts'
import { hits } from '../../../../../control-plane/downloads/analyzer/detection/source/source.ts'
import { LIMITS } from '../../../../../shared/limits.ts'

/** Code as it is, and the same with what is no code marked. */
const CASES: Readonly<Record<SourceLanguage, readonly (readonly [string, string])[]>> = {
  python: [
    ['a = 1  # b = 2\nc', 'a = 1  ▒▒▒▒▒▒▒\nc'],
    [`'''d"'\n# e'''\nf`, `'''▒▒▒\n▒▒▒'''\nf`],
    ['"""d\\"""e"""f', '"""▒▒▒▒▒▒"""f'],
    [`x = "it's" + 'say "y"' # 'z`, `x = "▒▒▒▒" + '▒▒▒▒▒▒▒' ▒▒▒▒`],
    ['r"\\" # no"; b', 'r"▒▒▒▒▒▒▒"; b'],
    ['f"a{b}" ; "" ; c', 'f"▒▒▒▒" ; "" ; c'],
    ['"open\nnext', '"▒▒▒▒\nnext'],
  ],
  ruby: [
    ['a # b\nc', 'a ▒▒▒\nc'],
    ['=begin\nclass X\n=end\nclass Y', '▒▒▒▒▒▒\n▒▒▒▒▒▒▒\n▒▒▒▒\nclass Y'],
    ['"a#{b}#c" + d', '"▒▒▒▒▒▒▒" + d'],
    ['x = <<~EOS\n  get "up"\nEOS\ny', 'x = ▒▒▒▒▒▒\n▒▒▒▒▒▒▒▒▒▒\n▒▒▒\ny'],
    ['list << Item\nget "up"', 'list << Item\nget "▒▒"'],
    ['%w[a # b].each', '▒▒▒▒▒▒▒▒▒.each'],
    ['x = 10 % 3 # y', 'x = 10 % 3 ▒▒▒'],
    ['a\n__END__\nclass X', 'a\n▒▒▒▒▒▒▒\n▒▒▒▒▒▒▒'],
    ["match(/'#/, b)", 'match(▒▒▒▒, b)'],
  ],
  php: [
    ["it's <b>Route::get</b>\n<?php a(); // b\nc", '▒▒▒▒ ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒\n<?php a(); ▒▒▒▒\nc'],
    ['<?php a # b\n#[Attribute]\n/* c\n*/ d', '<?php a ▒▒▒\n#[Attribute]\n▒▒▒▒\n▒▒ d'],
    ['<?php a ?> b <?php c', '<?php a ▒▒ ▒ ▒▒▒▒▒ c'],
    ["<?php 'a\\'b' . \"c\nd\"", '<?php \'▒▒▒▒\' . "▒\n▒"'],
    ['<?php $x = <<<EOT\n  a(\n  EOT; b', '<?php $x = ▒▒▒▒▒▒\n▒▒▒▒\n▒▒▒▒▒; b'],
  ],
  java: [
    ['a // b\n/* c\n * d */ e', 'a ▒▒▒▒\n▒▒▒▒\n▒▒▒▒▒▒▒ e'],
    ['"a // b" + \'"\' + c', '"▒▒▒▒▒▒" + \'▒\' + c'],
    ['"""\n "@X" """ + d', '"""\n▒▒▒▒▒▒""" + d'],
    ["'\\u0022' + '\\'' + e", "'▒▒▒▒▒▒' + '▒▒' + e"],
  ],
  kotlin: [
    ['/* a /* b */ c */ d', '▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒ d'],
    ['"""a\\""" + d', '"""▒▒""" + d'],
    ['"a" // b', '"▒" ▒▒▒▒'],
  ],
  groovy: [["id 'a' version \"b\" // c\n'''d\ne'''", "id '▒' version \"▒\" ▒▒▒▒\n'''▒\n▒'''"]],
  csharp: [
    ['a; /// <b>\nc', 'a; ▒▒▒▒▒▒▒\nc'],
    ['@"a\\" + b + @"c""d"', '@"▒▒" + b + @"▒▒▒▒"'],
    ['$@"a\nb" + c', '$@"▒\n▒" + c'],
    ['"""\n "x" // y\n""" + c', '"""\n▒▒▒▒▒▒▒▒▒\n""" + c'],
    ["'\"' + d", "'▒' + d"],
  ],
  go: [
    ['a // b\n`c\n"d` + e', 'a ▒▒▒▒\n`▒\n▒▒` + e'],
    ["'`' + '\\'' + f", "'▒' + '▒▒' + f"],
    ['"a\\"b" /* c */ d', '"▒▒▒▒" ▒▒▒▒▒▒▒ d'],
  ],
}

for (const language of SOURCE_LANGUAGES)
  t.test(
    `${language}: comments and strings are blank, all else stands where it stood`,
    async (t) => {
      for (const [text, marked] of CASES[language]) {
        t.equal(marked.length, text.length, `the case is well made: ${marked}`)
        const expected = marked.replaceAll('▒', ' ')
        t.equal(blank(text, language), expected)
        t.equal(
          blank(text.replaceAll('\n', '\r\n'), language).split('\n').length,
          text.split('\n').length,
        )
      }
    },
  )

t.test('without comments, strings say what they say', async (t) => {
  t.equal(uncommented('a("b") // c("d")', 'go'), 'a("b")          ')
  t.equal(uncommented('{ "u": "http://x" /* c */ }', 'csharp'), '{ "u": "http://x"         }')
})

t.test('no text keeps it busy: long rows of openings that nothing closes', async (t) => {
  const openings = [
    '/*',
    '"',
    "'",
    '"""',
    "'''",
    '`',
    '#',
    '<<A\n',
    '<<~A\n',
    '<<<A\n',
    '%w[',
    '=begin\n',
  ]
  openings.push('?>', '<?php ', '@"', '\\', '/ /', '(/', '/*/*', '* /', 'a"b\\')
  for (const language of SOURCE_LANGUAGES)
    for (const opening of openings) {
      const text = opening.repeat(200_000 / opening.length)
      if (blank(text, language).length !== text.length) t.fail(`${language}: ${opening}`)
    }
})

t.test('of a file of nothing else, so many places are looked at and no more', async (t) => {
  const max = LIMITS.detectionHitsMax
  t.equal(hits({ code: 'a '.repeat(max) }, /a/).length, max)
  t.equal(hits({ code: 'a '.repeat(max + 1) }, /a/).length, max)
})
