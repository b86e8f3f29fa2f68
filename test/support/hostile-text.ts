/** What attackers type into forms, and what a page that shows it must not have become. */
export const HOSTILE_TEXTS: readonly string[] = [
  // elements, and the ways out of where a text may stand
  '<script>hx()</script>',
  '"><script>hx()</script>',
  "'><script>hx()</script>",
  '</title><script>hx()</script>',
  '</textarea><script>hx()</script>',
  '</option></select><script>hx()</script>',
  '</script><script>hx()</script>',
  '</style><script>hx()</script>',
  '--><script>hx()</script>',
  ']]><script>hx()</script>',
  '</pre></code></details><script>hx()</script>',
  '<ScRiPt/hx>hx()</sCrIpT>',
  '<template><script>hx()</script></template>',
  '<plaintext>hx',
  '<!--hx',
  '<![CDATA[hx<script>hx()</script>]]>',
  // handlers
  '<img src=x onerror=hx()>',
  '"><img src=x onerror=hx()>',
  '<svg onload=hx()>',
  '<svg><script>hx()</script></svg>',
  '<svg><animate onbegin=hx() attributeName=x dur=1s>',
  '<input autofocus onfocus=hx()>',
  '<details open ontoggle=hx()>',
  '<video><source onerror=hx()></video>',
  '<x-hx contenteditable onblur=hx()>',
  // out of an attribute
  '" onfocus="hx()" autofocus="',
  "' onfocus='hx()' autofocus='",
  'x onmouseover=hx() y',
  '`onmouseover=hx()`',
  '" style="background:url(javascript:hx())',
  // addresses
  'javascript:hx()',
  'JaVaScRiPt&colon;hx()',
  'java\tscript:hx()',
  '\u0001javascript:hx()',
  'data:text/html,<script>hx()</script>',
  'vbscript:hx()',
  '//evil.example/hx',
  '<a href="javascript:hx()">x</a>',
  '<form action="javascript:hx()"><button>x</button></form>',
  '<button formaction="javascript:hx()">x</button>',
  '<iframe srcdoc="<script>parent.hx()</script>">',
  '<object data="javascript:hx()">',
  '<math><mi xlink:href="javascript:hx()">x</mi></math>',
  '"/><base href="https://evil.example/hx/">',
  '<meta http-equiv="refresh" content="0;url=javascript:hx()">',
  '<link rel=stylesheet href="https://evil.example/hx.css">',
  // styles
  '<style>*{background:url(https://evil.example/hx)}</style>',
  ';}body{background:url(https://evil.example/hx)}/*',
  // what changes when it is read twice
  '<noscript><p title="</noscript><script>hx()</script>">',
  '<svg></p><style><a id="</style><img src=1 onerror=hx()>">',
  '&lt;script&gt;hx()&lt;/script&gt;',
  '&#x3c;script&#x3e;hx()&#x3c;/script&#x3e;',
  String.raw`\u003cscript\u003ehx()\u003c/script\u003e`,
  '+ADw-script+AD4-hx()+ADw-/script+AD4-',
  '\uff1cscript\uff1ehx()\uff1c/script\uff1e',
  // templates, and JSON that lies in a page
  '{{constructor.constructor("hx()")()}}',
  '${hx()}',
  '<%= hx() %>',
  '#{hx()}',
  '","x":"</script><script>hx()</script>',
  '\u2028hx()\u2029//',
  // what is not seen
  '\u202ehx\u202c\u2066gnp.exe',
  'hx\u0000<script>hx()</script>',
  'hx\r\nSet-Cookie: hx=1\r\n\r\n<script>hx()</script>',
  `hx${'<b>A'.repeat(1000)}`,
]

const ADDRESSES = HOSTILE_TEXTS.filter((text) => /^[\w\s\u0001]*(?::|&colon;|\/\/)/.test(text))

/** All of them in a few texts, each of which begins with one that only harms at the beginning. */
export const HOSTILE_GROUPS: readonly (readonly string[])[] = ADDRESSES.map((address, at) => [
  address,
  ...HOSTILE_TEXTS.filter((text) => !ADDRESSES.includes(text)).filter(
    (_, index) => index % ADDRESSES.length === at,
  ),
])

export interface Finding {
  readonly page: number
  readonly what: string
}

export interface Inspected {
  /** `tag` and `tag[attribute]` of every element. */
  readonly vocabulary: readonly string[]
  readonly findings: readonly Finding[]
}

/** Runs in a browser, so that the parser is the one that counts. Nothing of a page is loaded. */
const INSPECT = String.raw`({ pages, base }) => {
  const vocabulary = new Set()
  const findings = []
  pages.forEach((text, page) => {
    const find = (what) => void findings.push({ page, what })
    const parsed = new DOMParser().parseFromString(text, 'text/html')
    const comments = parsed.createNodeIterator(parsed, NodeFilter.SHOW_COMMENT)
    while (comments.nextNode() !== null) find('a comment')
    for (const element of parsed.querySelectorAll('*')) {
      const tag = element.tagName.toLowerCase()
      vocabulary.add(tag)
      if (/script|style/.test(tag) && element.textContent.trim() !== '') find(tag + ' with text')
      for (const { name, value } of element.attributes) {
        vocabulary.add(tag + '[' + name + ']')
        if (name.startsWith('on') || name === 'style') find(tag + '[' + name + ']')
        if (!/^(?:href|src|action|formaction|xlink:href)$/.test(name)) continue
        const url = URL.canParse(value, base) ? new URL(value, base) : undefined
        const isWeb = url !== undefined && /^https?:$/.test(url.protocol)
        if (!isWeb || /hx|evil/.test(url.host)) find(tag + '[' + name + '=' + value + ']')
      }
    }
  })
  return { vocabulary: [...vocabulary], findings }
}`

/** To be evaluated in a page of a browser; answers with `Inspected`. */
export function inspection(pages: readonly string[], base: string): string {
  return `(${INSPECT})(${JSON.stringify({ pages, base })})`
}
