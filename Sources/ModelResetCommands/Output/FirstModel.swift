/// A small first model in Xcode's format: one entity with a unique key.
struct FirstModel {
    let name: String
    let entityName: String
    let attributes = [
        (name: "createdAt", markup: #"optional="YES" attributeType="Date" usesScalarValueType="NO""#),
        (name: "name", markup: #"attributeType="String" defaultValueString="""#),
        (name: "note", markup: #"optional="YES" attributeType="String""#),
        (name: "uid", markup: #"attributeType="String""#),
    ]

    /// The contents of each file of the bundle, with its path in the bundle.
    var files: [(path: String, text: String)] {
        [("\(name).xcdatamodel/contents", contents), (".xccurrentversion", currentVersion)]
    }

    var contents: String {
        let attributes = attributes.map { "        <attribute name=\"\($0.name)\" \($0.markup)/>" }
        return """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="24299" systemVersion="24G231" minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
                <entity name="\(entityName)" representedClassName="\(entityName)" syncable="YES" codeGenerationType="class">
            \(attributes.joined(separator: "\n"))
                    <uniquenessConstraints>
                        <uniquenessConstraint>
                            <constraint value="uid"/>
                        </uniquenessConstraint>
                    </uniquenessConstraints>
                </entity>
            </model>

            """
    }

    private var currentVersion: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>_XCCurrentVersionName</key>
        \t<string>\(escaped(name)).xcdatamodel</string>
        </dict>
        </plist>

        """
    }

    private func escaped(_ text: String) -> String {
        text.map { ["&": "&amp;", "<": "&lt;", ">": "&gt;"][$0] ?? String($0) }.joined()
    }
}
