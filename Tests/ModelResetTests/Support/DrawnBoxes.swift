import Foundation
import FoundationXML

/// The boxes of a drawing, read back from it; reading fails if it is not well-formed.
final class DrawnBoxes: NSObject, XMLParserDelegate {
    private(set) var boxes: [CGRect] = []
    private var page = CGRect.zero
    private var shift = CGPoint.zero
    private var corner = CGPoint.zero
    private var depth = 0

    init(_ text: String) throws {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.fileReadCorruptFile) }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        func number(_ name: String) -> Double { attributes[name].flatMap(Double.init) ?? 0 }
        switch name {
        case "svg":
            page = CGRect(x: 0, y: 0, width: number("width"), height: number("height"))
        case "g":
            depth += 1
            let numbers = (attributes["transform"] ?? "").split { !"-.0123456789".contains($0) }.compactMap {
                Double($0)
            }
            let point = CGPoint(x: numbers.first ?? 0, y: numbers.last ?? 0)
            if depth == 1 { shift = point } else { corner = CGPoint(x: shift.x + point.x, y: shift.y + point.y) }
        case "rect" where depth == 2:
            boxes.append(CGRect(x: corner.x, y: corner.y, width: number("width"), height: number("height")))
        default:
            break
        }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        if name == "g" { depth -= 1 }
    }

    /// The pairs of boxes that come nearer to each other than a line needs.
    var overlaps: [(CGRect, CGRect)] {
        boxes.indices.flatMap { index in
            boxes[(index + 1)...].filter { $0.insetBy(dx: -10, dy: -10).intersects(boxes[index]) }
                .map { (boxes[index], $0) }
        }
    }

    var isInsideThePage: Bool { boxes.allSatisfy(page.contains) }
}
