// A plot of vega-lite as SVG: no script, no font of its own, and no colour but those given, so that it fits any page.
import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';

const FONT = 'system-ui, sans-serif';

/** @param ink colour of text and axes */
export async function drawSvg(spec: TopLevelSpec, ink: string): Promise<string> {
  const text = {
    labelColor: ink,
    titleColor: ink,
    labelFont: FONT,
    titleFont: FONT,
    titleFontWeight: 500,
  } as const;
  const whole: TopLevelSpec = {
    ...spec,
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    background: 'transparent',
    config: {
      axis: {
        ...text,
        domainColor: ink,
        tickColor: ink,
        gridColor: ink,
        gridOpacity: 0.15,
        labelFontSize: 11,
        titleFontSize: 11,
      },
      legend: { ...text, labelLimit: 220, labelFontSize: 11, titleFontSize: 11 },
      header: { ...text, labelFontSize: 12 },
      title: { color: ink, font: FONT },
      text: { color: ink, font: FONT },
      rule: { color: ink },
      view: { stroke: null },
      range: { category: ['#3f88c5', '#d9792b', '#3a9e6f', '#b565a7', '#b8962e', '#7a8290', '#c94f4f'] },
    },
  };
  const view = new View(parse(compile(whole).spec), { renderer: 'none' });
  return view.toSVG();
}
