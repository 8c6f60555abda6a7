// Lists the search texts of the conformance suite: word boundaries, letter case and punctuation.
import type { MatchMode } from '../../../apis/logging/v1alpha2/log-query.ts';

export const TEXTS: readonly (readonly [mode: MatchMode, texts: readonly string[]])[] = [
  [
    'phrase',
    [
      ...[
        'timeout',
        'TIMEOUT',
        'connection refused',
        'my app',
        'cpu',
        'a.b',
        "don't",
        'foo: bar',
        '1,024',
        '10.0.0.1',
      ],
      ...['GRÖSSER', 'GRÖßER', 'cafe\u0301', 'ısı', 'ISI', 'привет', '数据库 错误', 'データベース', '오류'],
      ...['שלום', 'soft\u00adhyphen', 'width space', '🚀 done', 'Done ⓐⓑ', '_node_cpu_', 'C:\\Windows'],
      ...['level=error', '31mERROR', "O''Brien", 'AND OR NOT', 'f00000300 END'],
    ],
  ],
  [
    'prefix',
    [
      ...[
        'time',
        'TIME',
        'connection ref',
        'node_',
        'a.b',
        "don'",
        'foo:b',
        'my-a',
        '10.0',
        'größ',
        'Ü',
        'при',
      ],
      ...['数据库错', 'データ', '오', 'END-OF-H', 'x', '1', 'cafe'],
    ],
  ],
  [
    'substring',
    [
      ...[
        'IMEOU',
        'cpu_us',
        '-app',
        ': bar',
        '   ',
        '\t',
        '.',
        '\\',
        '"',
        "'",
        '(a|b)*[c-d]{2,3}?^$.+',
        '%00',
      ],
      ...['\\u0000', '\u001b[', '\r', '\u2028', '\u0085', 'ß', 'STRASSE', 'Ö', 'u\u0308', '误 数', '😀w'],
      ...['ı', 'I', 'K', 'END-OF-HUGE', 'trailing spaces   ', '${', '//', '_'],
    ],
  ],
  // Expressions that have one meaning in RE2 and in Lucene, where they match the same lines if case matters.
  [
    'regex',
    [
      ...['time ?out', '[0-9]{1,3}(\\.[0-9]{1,3}){3}', '(GET|POST) /api/v1/orders(/[0-9]+)? '],
      ...['level=\\"?(warn|error)\\"?', '[äöü]', '[^ -~]', '错.', 'colou?rs?|yell[ou]w', '\\$\\{', '\\"'],
      ...['(INFO|WARN)|(ERROR|FATAL)', 'x*', '[a-c][0-9:]+', 'conn.*refused', '[^a-z]{20}'],
    ],
  ],
];
