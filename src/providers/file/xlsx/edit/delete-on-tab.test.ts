import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sheet, sheetAfter, workbook } from './deletion.fixture.ts'

describe('what lies on the tab follows', () => {
  const cases: [what: string, before: string, row: number, after: string][] = [
    [
      'merged cells',
      '<mergeCells count="4"><mergeCell ref="C2:D3"/><mergeCell ref="C4:D6"/><mergeCell ref="F5:G5"/><mergeCell ref="H5:H6"/></mergeCells>',
      5,
      '<mergeCells count="2"><mergeCell ref="C2:D3"/><mergeCell ref="C4:D5"/></mergeCells>',
    ],
    ['the only merged cells', '<mergeCells count="1"><mergeCell ref="F5:G5"/></mergeCells><x14/>', 5, ''],
    [
      'links',
      '<hyperlinks><hyperlink ref="A5" r:id="r1"/><hyperlink ref="A6:B6" location="Data!A9" display="x"/></hyperlinks>',
      5,
      '<hyperlinks><hyperlink ref="A5:B5" location="Data!A9" display="x"/></hyperlinks>',
    ],
    [
      'filters',
      '<autoFilter ref="A1:C10"><filterColumn colId="0"/><sortState ref="A5:C10"><sortCondition ref="A5:A10"/></sortState></autoFilter>',
      5,
      '<autoFilter ref="A1:C9"><filterColumn colId="0"/><sortState ref="A5:C9"><sortCondition ref="A5:A9"/></sortState></autoFilter>',
    ],
    [
      'conditional formats',
      '<conditionalFormatting sqref="A5"><cfRule/></conditionalFormatting><conditionalFormatting sqref="A2:A4 B5 C4:C6"><cfRule><formula>$A2&gt;$B$8</formula><colorScale><cfvo type="num" val="5"/><cfvo type="num" val="$A$9"/></colorScale></cfRule></conditionalFormatting>',
      5,
      '<conditionalFormatting sqref="A2:A4 C4:C5"><cfRule><formula>$A2&gt;$B$7</formula><colorScale><cfvo type="num" val="5"/><cfvo type="num" val="$A$8"/></colorScale></cfRule></conditionalFormatting>',
    ],
    [
      'a rule whose first row goes: relative references count from the next',
      '<conditionalFormatting sqref="A5:B9"><cfRule><formula>AND($A5&gt;1,$B6=$A$9)</formula></cfRule></conditionalFormatting>',
      5,
      '<conditionalFormatting sqref="A5:B8"><cfRule><formula>AND($A5&gt;1,$B6=$A$8)</formula></cfRule></conditionalFormatting>',
    ],
    [
      'a rule below',
      '<conditionalFormatting sqref="A7:B9"><cfRule><formula>$A7&gt;$A$1</formula></cfRule></conditionalFormatting>',
      5,
      '<conditionalFormatting sqref="A6:B8"><cfRule><formula>$A6&gt;$A$1</formula></cfRule></conditionalFormatting>',
    ],
    [
      'validations',
      '<dataValidations count="2"><dataValidation type="list" sqref="A5"><formula1>"a,b"</formula1></dataValidation><dataValidation type="list" sqref="B2:B1048576"><formula1>$D$2:$D$8</formula1></dataValidation></dataValidations>',
      5,
      '<dataValidations count="1"><dataValidation type="list" sqref="B2:B1048576"><formula1>$D$2:$D$7</formula1></dataValidation></dataValidations>',
    ],
    [
      'errors that are ignored',
      '<ignoredErrors><ignoredError sqref="A2:A10"/></ignoredErrors>',
      5,
      '<ignoredErrors><ignoredError sqref="A2:A9"/></ignoredErrors>',
    ],
    [
      'protected ranges',
      '<protectedRanges><protectedRange name="x" sqref="B6 C:C"/></protectedRanges>',
      5,
      '<protectedRanges><protectedRange name="x" sqref="B5 C:C"/></protectedRanges>',
    ],
    [
      'page breaks above',
      '<rowBreaks count="1"><brk id="4"/></rowBreaks>',
      5,
      '<rowBreaks count="1"><brk id="4"/></rowBreaks>',
    ],
    [
      'extensions',
      '<extLst><ext uri="1"><x14:conditionalFormattings><x14:conditionalFormatting><x14:cfRule><xm:f>Data!$A$9</xm:f></x14:cfRule><xm:sqref>B2:B9</xm:sqref></x14:conditionalFormatting></x14:conditionalFormattings></ext>' +
        '<ext uri="2"><x14:dataValidations count="2"><x14:dataValidation><x14:formula1><xm:f>Other!$A$9</xm:f></x14:formula1><xm:sqref>C5</xm:sqref></x14:dataValidation><x14:dataValidation><x14:formula1><xm:f>$A$9</xm:f></x14:formula1><xm:sqref>C6</xm:sqref></x14:dataValidation></x14:dataValidations></ext>' +
        '<ext uri="3"><x14:sparklineGroups><x14:sparklineGroup><x14:sparklines><x14:sparkline><xm:f>Data!B5:C5</xm:f><xm:sqref>D5</xm:sqref></x14:sparkline></x14:sparklines></x14:sparklineGroup><x14:sparklineGroup><x14:sparklines><x14:sparkline><xm:f>Data!B6:C6</xm:f><xm:sqref>D6</xm:sqref></x14:sparkline></x14:sparklines></x14:sparklineGroup></x14:sparklineGroups></ext></extLst>',
      5,
      '<extLst><ext uri="1"><x14:conditionalFormattings><x14:conditionalFormatting><x14:cfRule><xm:f>Data!$A$8</xm:f></x14:cfRule><xm:sqref>B2:B8</xm:sqref></x14:conditionalFormatting></x14:conditionalFormattings></ext>' +
        '<ext uri="2"><x14:dataValidations count="1"><x14:dataValidation><x14:formula1><xm:f>$A$8</xm:f></x14:formula1><xm:sqref>C5</xm:sqref></x14:dataValidation></x14:dataValidations></ext>' +
        '<ext uri="3"><x14:sparklineGroups><x14:sparklineGroup><x14:sparklines><x14:sparkline><xm:f>Data!B5:C5</xm:f><xm:sqref>D5</xm:sqref></x14:sparkline></x14:sparklines></x14:sparklineGroup></x14:sparklineGroups></ext></extLst>',
    ],
    [
      'extensions that become empty',
      '<extLst><ext><x14:ignoredErrors><x14:ignoredError><xm:sqref>D5</xm:sqref></x14:ignoredError></x14:ignoredErrors></ext></extLst>',
      5,
      '',
    ],
  ]
  for (const [what, before, row, after] of cases) {
    test(what, async () => {
      const found = await sheetAfter(workbook(sheet({}, before.replace('<x14/>', ''))), row)
      assert.equal(/<\/sheetData>(.*)<\/worksheet>/.exec(found)?.[1], after)
    })
  }

  test('what knows no rows stays as it is', async () => {
    const before =
      '<sheetPr/><sheetViews><sheetView><selection activeCell="A9" sqref="A9"/></sheetView></sheetViews><sheetFormatPr/><cols><col min="1" max="2"/></cols>'
    const after =
      '<phoneticPr/><printOptions/><pageMargins/><pageSetup/><headerFooter/><colBreaks/><drawing/><legacyDrawing/><tableParts/>'
    const found = await sheetAfter(workbook(sheet({}, after, before)), 5)
    assert.ok(found.startsWith(`<worksheet>${before}<sheetData>`) && found.endsWith(`${after}</worksheet>`))
  })
})
