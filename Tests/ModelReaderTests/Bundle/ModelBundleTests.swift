import ErrorExpectations
import Foundation
import ManagedModel
import ModelReader
import TestSupport
import Testing

@Suite struct ModelBundleTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func theNamedVersionIsRead() throws {
        let url = try directory.bundle(versions: ["Model", "Model 2", "Model 10"], current: "Model 2.xcdatamodel")
        let model = try ModelReader.read(url).model
        #expect((model.name, model.version) == ("Model", "Model 2"))
        #expect(model.entities.map(\.name) == ["Model 2"])
    }

    @Test func anotherVersionIsReadByName() throws {
        let url = try directory.bundle(versions: ["Model", "Model 2"], current: "Model.xcdatamodel")
        #expect(try ModelReader.read(url, version: "Model 2").model.version == "Model 2")
        #expect(try ModelReader.read(url, version: "Model 2.xcdatamodel").model.version == "Model 2")
    }

    @Test func theOnlyVersionIsCurrentWhateverItIsCalled() throws {
        let url = try directory.bundle(versions: ["1.5"])
        let bundle = try ModelBundle(at: url)
        #expect((bundle.name, bundle.versions, bundle.currentVersion) == ("Model", ["1.5"], "1.5"))
        #expect(try ModelReader.read(url).model.version == "1.5")
    }

    @Test func theOnlyVersionIsCurrentWhenNoneIsNamed() throws {
        let url = try directory.bundle(versions: ["V1"], current: .some(nil))
        #expect(try ModelBundle(at: url).currentVersion == "V1")
    }

    /// Without its rule, the model would be accepted, and the rule would be forgotten.
    @Test(arguments: RefusedModel.allCases) func aRuleThatCannotBeReadIsAnErrorWithItsLine(model: RefusedModel) throws {
        let bundle = directory.url.appending(path: "M.xcdatamodeld")
        try model.write(to: bundle)
        let error = try requireThrows(ModelReaderError.self) { try ModelReader.read(bundle) }
        #expect(error.code == (model == .pattern ? .invalidPattern : .invalidDerivation))
        #expect(error.message.hasPrefix(model.message) && error.line == RefusedModel.line, "\(error)")
        #expect(error.file.hasSuffix("M.xcdatamodel/contents"))
    }

    /// Linux keeps the bytes of a name; macOS takes both for the same.
    @Test func aVersionMayBeNamedInAnotherFormOfUnicode() throws {
        let (decomposed, composed) = ("Cafe\u{301}", "Caf\u{e9}")
        let url = try directory.bundle(versions: [decomposed, "\(decomposed) 2"], current: "\(composed) 2.xcdatamodel")
        #expect(try ModelReader.read(url).model.version == "\(composed) 2")
        #expect(try ModelReader.read(url, version: composed).model.version == composed)
    }

    @Test(arguments: [
        "not a list", "<plist version=\"1.0\"><array/></plist>", "{ _XCCurrentVersionName = (); }", "<plist>",
        String(repeating: "<array>", count: 9_000),
    ])
    func aFileThatNamesNoVersionAsXcodeDoesIsAnError(text: String) throws {
        let url = try directory.bundle(versions: ["V1"])
        try Data(text.utf8).write(to: url.appending(path: ".xccurrentversion"))
        let error = try requireThrows(ModelReaderError.self) { try ModelReader.read(url) }
        #expect(error.code == .malformedXML && error.file.hasSuffix("/.xccurrentversion"))
        #expect(error.message.hasPrefix("The file does not name the current version"))
        #expect(try ModelReader.read(url, version: "V1").model.version == "V1")
    }

    /// What the versions before it say about names is a part of the model.
    @Test func theVersionsBeforeTheCurrentOneAreFollowed() throws {
        let bundle = "Model.xcdatamodeld"
        func write(_ version: String, _ attributes: String) throws {
            let entity = "<entity name=\"Item\">\(attributes)</entity>"
            try directory.write(contents(entity), to: "\(bundle)/\(version).xcdatamodel/contents")
        }
        let string = "optional=\"YES\" attributeType=\"String\""
        try write("Model", "<attribute name=\"name\" \(string)/>")
        try write("Model 2", "<attribute name=\"fullName\" \(string) elementID=\"name\"/>")
        // Without an identifier, so that only the versions tell where the values are.
        try write("Model 10", "<attribute name=\"fullName\" \(string)/><attribute name=\"name\" \(string)/>")
        try write("Other 3", "<attribute name=\"other\" \(string)/>")
        let url = directory.url.appending(path: bundle)
        #expect(try ModelBundle(at: url).versions(before: "Model 10") == ["Model", "Model 2"])
        let first = try ModelReader.read(url, version: "Model").model
        let document = try ModelReader.read(url, version: "Model 10")
        #expect(document.diagnostics.isEmpty)
        let known = try #require(document.model.earlierVersions.first { $0.hashes.contains(first.hash.description) })
        #expect(known.propertyNames["Item"] == ["fullName": "name"])
        // One that cannot be read ends the history, and is named. What it did to the names of those before it is not known.
        try directory.write(Data("<model".utf8), to: "\(bundle)/Model 3.xcdatamodel/contents")
        let cut = try ModelReader.read(url, version: "Model 10")
        #expect(cut.model.earlierVersions.isEmpty && cut.diagnostics.count == 1)
        try directory.write(Data("<model".utf8), to: "\(bundle)/Model 2.xcdatamodel/contents")
        let broken = try ModelReader.read(url, version: "Model 10")
        #expect(broken.model.earlierVersions.isEmpty && broken.diagnostics.count == 1)
    }

    /// The version that it names may be one that somebody forgot to add.
    @Test func aMissingCurrentVersionIsAnErrorAlsoWhenOneIsLeft() throws {
        let url = try directory.bundle(versions: ["V1"], current: "Gone.xcdatamodel")
        #expect(try ModelBundle(at: url).currentVersion == nil)
        let error = try requireThrows(ModelReaderError.self) { try ModelReader.read(url) }
        #expect(error.code == .noCurrentVersion)
        #expect(error.message.hasPrefix("The file .xccurrentversion names Gone as the current version,"))
        #expect(error.message.contains("The bundle has: V1."))
        #expect(try ModelReader.read(url, version: "V1").model.version == "V1")
    }

    @Test(arguments: [["V1"], ["V1", "V2"]]) func aMergeConflictAboutTheCurrentVersionIsNamed(_ versions: [String])
        throws
    {
        let url = try directory.bundle(versions: versions)
        try Data("<plist>\n<dict>\n<<<<<<< HEAD\n".utf8).write(to: url.appending(path: ".xccurrentversion"))
        #expect(try ModelBundle(at: url).currentVersion == nil)
        let error = try requireThrows(ModelReaderError.self) { try ModelReader.read(url) }
        #expect(error.code == .mergeConflict)
        #expect(error.line == 3 && error.file.hasSuffix("/.xccurrentversion"))
        #expect(try ModelReader.read(url, version: "V1").model.version == "V1")
    }

    @Test(arguments: [String??.none, .some(nil), "Gone.xcdatamodel", "../../Other.xcdatamodel"])
    func severalVersionsAreNotGuessedFrom(_ current: String??) throws {
        let url = try directory.bundle(versions: ["V1", "V2"], current: current)
        #expect(try ModelBundle(at: url).currentVersion == nil)
        let error = try requireThrows(ModelReaderError.self) { try ModelReader.read(url) }
        #expect(error.code == .noCurrentVersion)
        #expect(error.message.contains("V1, V2"))
    }

    @Test func aBundleWithoutVersionsIsRefusedByName() throws {
        let url = try directory.bundle(versions: [], current: .some(nil))
        let error = try requireThrows(ModelReaderError.self) { try ModelReader.read(url) }
        #expect(error.code == .noCurrentVersion)
        #expect(error.message.contains("no versions"))
    }

    @Test func aVersionThatIsNotThereIsNotReplaced() throws {
        let url = try directory.bundle(versions: ["V1"])
        let error = try requireThrows(ModelReaderError.self) { try ModelReader.read(url, version: "V2") }
        #expect(error.code == .unknownVersion)
        #expect(error.message.contains("V1"))
    }

    @Test func aVersionMayStandAlone() throws {
        try directory.write(contents("<entity name=\"E\"/>"), to: "Alone.xcdatamodel/contents")
        let model = try ModelReader.read(directory.url.appending(path: "Alone.xcdatamodel")).model
        #expect((model.name, model.version) == ("Alone", "Alone"))
    }

    @Test func aVersionWithinABundleHasTheBundlesName() throws {
        let url = try directory.bundle(versions: ["V1", "V2"])
        let model = try ModelReader.read(url.appending(path: "V2.xcdatamodel")).model
        #expect((model.name, model.version) == ("Model", "V2"))
    }

    @Test func aBinaryModelIsRefusedByName() throws {
        try directory.write(Data("bplist00".utf8), to: "Old.xcdatamodeld/Old.xcdatamodel/elements")
        let error = try requireThrows(ModelReaderError.self) {
            try ModelReader.read(directory.url.appending(path: "Old.xcdatamodeld"))
        }
        #expect(error.code == .binaryModel)
        #expect(error.file.hasSuffix("Old.xcdatamodel/elements"))
    }

    @Test func aPathWithoutAModelIsAnError() throws {
        try directory.write(Data(), to: "Model.txt")
        try directory.write(Data(), to: "Empty.xcdatamodel/other")
        #expect(try code(of: "Missing.xcdatamodeld") == .notFound)
        #expect(try code(of: "Model.txt") == .notAModel)
        #expect(try code(of: "Empty.xcdatamodel") == .notFound)
    }

    @Test func contentsThatAreNoFileAreRefused() throws {
        try directory.write(Data(), to: "Model.xcdatamodel/contents/file")
        #expect(try code(of: "Model.xcdatamodel") == .notAModel)
    }

    @Test func anEmptyCurrentVersionFileIsPassedOver() throws {
        let url = try directory.bundle(versions: ["V1"])
        try Data().write(to: url.appending(path: ".xccurrentversion"))
        #expect(try ModelBundle(at: url).currentVersion == "V1")
    }

    @Test func errorsAndDiagnosticsNameTheFileAndTheLine() throws {
        let odd = contents("<entity name=\"E\" colour=\"red\"/>\n<entity\nname=\"E\"/>")
        try directory.write(odd, to: "M.xcdatamodel/contents")
        let error = try requireThrows(ModelReaderError.self) {
            try ModelReader.read(directory.url.appending(path: "M.xcdatamodel"))
        }
        #expect(error.description.hasSuffix("M.xcdatamodel/contents:4: error: \(error.message)"))
        let document = try read("<entity name=\"E\" colour=\"red\"/>")
        #expect(
            document.diagnostics.map(\.description) == [
                "Test:3: warning: The attribute colour of <entity> is unknown, and is ignored."
            ])
    }

    private func code(of path: String) throws -> ModelReaderError.Code {
        try requireThrows(ModelReaderError.self) { try ModelReader.read(directory.url.appending(path: path)) }.code
    }
}
