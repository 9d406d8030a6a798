import ErrorExpectations
import Foundation
import ManagedModel
import ModelReader
import Testing

/// A model file with the given elements.
func contents(_ elements: String, attributes: String = "") -> Data {
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
    let type = "type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\""
    return Data("\(head)<model \(type) \(attributes)>\n\(elements)\n</model>".utf8)
}

func read(_ elements: String, attributes: String = "") throws -> ModelDocument {
    try ModelReader.read(data: contents(elements, attributes: attributes), name: "Test")
}

/// The document, and a check that nothing in it was odd.
func readPlainly(_ elements: String, attributes: String = "") throws -> ManagedObjectModel {
    let document = try read(elements, attributes: attributes)
    #expect(document.diagnostics.map(\.description) == [])
    return document.model
}

/// Reads one attribute of one entity, given as the XML attributes beside its name.
func readAttribute(_ attributes: String) throws -> (attribute: AttributeDescription, diagnostics: [ModelDiagnostic]) {
    let document = try read("<entity name=\"E\">\n<attribute name=\"a\" \(attributes)/>\n</entity>")
    let attribute = try #require(document.model.entity(named: "E")?.attributes.first)
    return (attribute, document.diagnostics)
}

func readRelationship(
    _ attributes: String
) throws -> (relationship: RelationshipDescription, diagnostics: [ModelDiagnostic]) {
    let document = try read(
        "<entity name=\"E\">\n<relationship name=\"r\" destinationEntity=\"E\" \(attributes)/>\n</entity>")
    let relationship = try #require(document.model.entity(named: "E")?.relationships.first)
    return (relationship, document.diagnostics)
}

func errorReading(_ elements: String) throws -> ModelReaderError {
    try errorReading(contents(elements))
}

func errorReading(_ data: Data) throws -> ModelReaderError {
    try requireThrows(ModelReaderError.self) { try ModelReader.read(data: data, name: "Test") }
}

/// A directory of a test's own, removed with it.
final class TemporaryDirectory {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "ModelReaderTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Writes a file, and the directories to it.
    func write(_ data: Data, to path: String) throws {
        let file = url.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    /// Writes a bundle whose versions each have an entity of the version's name.
    func bundle(_ name: String = "Model", versions: [String], current: String?? = .none) throws -> URL {
        let bundle = "\(name).xcdatamodeld"
        try FileManager.default.createDirectory(
            at: url.appending(path: bundle), withIntermediateDirectories: true)
        for version in versions {
            try write(contents("<entity name=\"\(version)\"/>"), to: "\(bundle)/\(version).xcdatamodel/contents")
        }
        if let current {
            let entry = current.map { "<key>_XCCurrentVersionName</key><string>\($0)</string>" } ?? ""
            let list =
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\"><dict>\(entry)</dict></plist>"
            try write(Data(list.utf8), to: "\(bundle)/.xccurrentversion")
        }
        return url.appending(path: bundle)
    }
}
