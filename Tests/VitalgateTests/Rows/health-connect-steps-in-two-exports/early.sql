CREATE TABLE application_info_table (row_id INTEGER PRIMARY KEY, package_name TEXT, app_name TEXT);
INSERT INTO application_info_table VALUES (1, 'com.example.sleep', 'Sleep');
CREATE TABLE device_info_table (row_id INTEGER PRIMARY KEY, manufacturer TEXT, model TEXT, device_type INTEGER);
INSERT INTO device_info_table VALUES (1, 'Acme', 'W1', 1);
CREATE TABLE steps_record_table (row_id INTEGER PRIMARY KEY, uuid BLOB, last_modified_time INTEGER, device_info_id INTEGER, app_info_id INTEGER, start_time INTEGER, end_time INTEGER, count INTEGER);
INSERT INTO steps_record_table VALUES (1, X'0B01', 1749849000001, 1, 1, 1749848400000, 1749849000000, 500);
INSERT INTO steps_record_table VALUES (2, X'0B02', 1749849600002, 1, 1, 1749848400000, 1749849600000, 900);
