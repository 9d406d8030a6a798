internal import Foundation

#if canImport(FoundationXML)
internal import FoundationXML
#endif

/// Parses checked bytes into a tree of elements.
enum MarkupParser {
    static func parse(_ markup: MarkupScan.Markup, file: String) throws(ModelReaderError) -> MarkupElement {
        // The parser refuses data of more than 10 MB, but accepts a longer stream.
        let parser = XMLParser(stream: InputStream(data: markup.data))
        let tree = TreeDelegate(lines: markup.lines)
        parser.delegate = tree
        // Ignore the result of `parse`: for a malformed file, the result depends on the platform, but the reported
        // error does not.
        _ = parser.parse()
        if let fault = tree.fault {
            throw ModelReaderError(
                .malformedXML, file: file, line: fault.line,
                "The file is not well-formed XML: \(sentence(forCode: fault.code)). Restore or repair it.")
        }
        guard let root = tree.root, tree.isComplete, parser.parserError == nil else {
            throw ModelReaderError(.malformedXML, file: file, "The file is not well-formed XML. Restore or repair it.")
        }
        return root
    }

    /// The parser reports errors as numbers. These phrases describe the errors of damaged files.
    private static func sentence(forCode code: Int) -> String {
        switch code {
        case 1: "a part of the file is longer than the parser accepts"
        case 5: "there is text after the last element"
        case 9: "a character that XML does not allow"
        case 26: "an entity that is not one of XML's own"
        case 38: "a < within an attribute"
        case 39: "an attribute without quotes"
        case 41: "an attribute without a value"
        case 42: "an attribute that occurs twice in one element"
        case 65: "a space is missing between attributes"
        case 68: "a name that XML does not allow"
        case 76: "an element is closed by a tag with a different name"
        default: "error \(code)"
        }
    }
}

private final class TreeDelegate: NSObject, XMLParserDelegate {
    private let lines: [Int]
    private var count = 0
    private var open: [MarkupElement] = []
    private(set) var root: MarkupElement?
    private(set) var fault: (code: Int, line: Int)?

    init(lines: [Int]) {
        self.lines = lines
    }

    /// Whether all elements that the scan found are parsed and closed.
    var isComplete: Bool { open.isEmpty && count == lines.count }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        let line = count < lines.count ? lines[count] : parser.lineNumber
        open.append(MarkupElement(name: name, attributes: attributes, line: line))
        count += 1
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        guard let element = open.popLast() else { return }
        guard let parent = open.indices.last else {
            root = root ?? element
            return
        }
        open[parent].children.append(element)
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        if fault == nil { fault = ((error as NSError).code, max(1, parser.lineNumber)) }
    }
}

/// An element of a model file, with its attributes and child elements. Model files have no text between elements.
///
/// Names are converted to the Unicode form NFC, because a store's hash and tables depend on the bytes of the names.
struct MarkupElement: Sendable {
    var name: String
    var attributes: [String: String]
    /// The line on which the start tag begins.
    var line: Int
    var children: [MarkupElement] = []

    init(name: String, attributes: [String: String], line: Int) {
        self.name = name
        self.line = line
        self.attributes = attributes
        guard name != "entry" else { return }
        for (attribute, value) in attributes
        where !MarkupElement.authoredAttributes.contains(attribute) && !value.utf8.isASCII {
            self.attributes[attribute] = value.precomposedStringWithCanonicalMapping
        }
    }

    /// The attributes with free text. Their values are not converted to NFC, and neither are entries of user info.
    private static let authoredAttributes: Set = [
        "defaultValueString", "predicateString", "regularExpressionString", "userDefinedModelVersionIdentifier",
    ]

    /// Returns the child elements with the given name, in the order of the file.
    func children(named name: String) -> [MarkupElement] {
        children.filter { $0.name == name }
    }

    /// The value of the attribute, which can be empty; nil if the attribute is absent.
    subscript(_ attribute: String) -> String? {
        attributes[attribute]
    }

    /// Returns the value of the attribute; nil if the attribute is absent or empty.
    func nonEmptyValue(_ attribute: String) -> String? {
        attributes[attribute].flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension String.UTF8View {
    fileprivate var isASCII: Bool { allSatisfy { $0 < 0x80 } }
}
