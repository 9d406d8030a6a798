import Foundation
#if canImport(FoundationXML)
import FoundationXML
#endif

/// One element of a model file, to be edited and written again. It is read by Foundation and not by the reader under test.
final class Markup {
    let name: String
    var attributes: [String: String]
    var children: [Markup]

    init(_ name: String, _ attributes: [String: String] = [:], _ children: [Markup] = []) {
        self.name = name
        self.attributes = attributes
        self.children = children
    }

    /// The root of a file; nil if it is not well-formed.
    static func parse(_ data: Data) -> Markup? {
        let tree = Tree()
        let parser = XMLParser(data: data)
        parser.delegate = tree
        return parser.parse() ? tree.top.children.first : nil
    }

    func copy() -> Markup {
        Markup(name, attributes, children.map { $0.copy() })
    }

    subscript(_ attribute: String) -> String? {
        get { attributes[attribute] }
        set { attributes[attribute] = newValue }
    }

    func flag(_ attribute: String) -> Bool { attributes[attribute] == "YES" }

    func children(named name: String) -> [Markup] { children.filter { $0.name == name } }

    /// The element and all that is in it.
    var all: [Markup] { [self] + children.flatMap(\.all) }

    private final class Tree: NSObject, XMLParserDelegate {
        let top = Markup("")
        private lazy var open = [top]

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String] = [:]
        ) {
            let element = Markup(name, attributes)
            open.last?.children.append(element)
            open.append(element)
        }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) {
            open.removeLast()
        }
    }
}

extension Markup {
    /// The file, with everything that XML leaves open drawn again: the order of attributes, quotes, indentation, line ends,
    /// comments, and how an empty element ends.
    func write(using random: inout SplitMix) -> Data {
        let style = Style(
            indentation: ["", " ", "    ", "\t"].randomElement(using: &random) ?? "",
            lineEnd: ["\n", "\r\n", "\n\n", ""].randomElement(using: &random) ?? "",
            quote: ["\"", "'"].randomElement(using: &random) ?? "\"")
        let heads = ["<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n", "<?xml version='1.0'?>", ""]
        var text = heads.randomElement(using: &random) ?? ""
        write(to: &text, style, depth: 0, using: &random)
        return Data(text.utf8)
    }

    private struct Style {
        var indentation: String
        var lineEnd: String
        var quote: String
    }

    private func write(to text: inout String, _ style: Style, depth: Int, using random: inout SplitMix) {
        text += String(repeating: style.indentation, count: depth)
        if Int.random(in: 0..<20, using: &random) == 0 { text += "<!-- <entity name=\"none\"> -->" }
        text += "<\(name)"
        for key in attributes.keys.sorted().shuffled(using: &random) {
            text += " \(key)=\(style.quote)\(Self.escaped(attributes[key] ?? ""))\(style.quote)"
        }
        if children.isEmpty, Bool.random(using: &random) {
            text += "/>" + style.lineEnd
            return
        }
        text += ">" + style.lineEnd
        for child in children { child.write(to: &text, style, depth: depth + 1, using: &random) }
        text += String(repeating: style.indentation, count: depth) + "</\(name)>" + style.lineEnd
    }

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            let isPlain = scalar.value >= 32 && !"<>&'\"".unicodeScalars.contains(scalar)
            return isPlain ? String(scalar) : "&#\(scalar.value);"
        }.joined()
    }
}
